// What the verbs share that steer a run which is going on.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "console/cli/verb.h"

namespace ringwright::cli {

struct SteeringWords {
  std::string verb, op;
  nlohmann::json arguments = nlohmann::json::object();  // of the request, beside run and who
  std::string then;                                     // "will pause after its current step"
};
// Asks the daemon, and prints "RUN THEN" or {run, state}. Throws what find_run and the daemon throw (RW-STEER-010, exit code 3: refused).
int steer(const std::string& run, const SteeringWords& words, const Invocation& invocation);

// The argument `run`.
std::shared_ptr<std::string> add_run_argument(Command& command);

}  // namespace ringwright::cli

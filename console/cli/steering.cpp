#include "console/cli/steering.h"

#include <fmt/format.h>

#include <cstdio>

#include "console/cli/daemon_access.h"
#include "console/cli/run_text.h"
#include "shared/wire/requester.h"

namespace ringwright::cli {

int steer(const std::string& run, const SteeringWords& words, const Invocation& invocation) {
  wire::ControlClient client(own_endpoints(), kAnswerTimeout);
  const std::string id = find_run(client, run);
  nlohmann::json request = words.arguments;
  request["run"] = id;
  request["who"] = wire::requester("ringwright " + words.verb);
  const nlohmann::json reply = client.request(words.op, std::move(request));
  if (invocation.json)
    std::fputs(dump_line({{"run", id}, {"state", reply.at("state")}}).c_str(), stdout);
  else
    fmt::print("{} {}\n", id, words.then);
  return 0;
}

std::shared_ptr<std::string> add_run_argument(Command& command) {
  auto run = std::make_shared<std::string>();
  command.add_option("run", *run, "the run's id, the beginning of one, a name, or last").required();
  return run;
}

}  // namespace ringwright::cli

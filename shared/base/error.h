// One error type for every program: what is wrong, where, what was expected, what to do (ARCHITECTURE.md, "Errors").
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

// tests/device/run builds the kernels on machines that have LibTorch and nothing else.
#if __has_include(<nlohmann/json_fwd.hpp>)
#include <nlohmann/json_fwd.hpp>
#endif

namespace ringwright {

// What a program exits with. 128+n: ended by signal n.
enum class ExitCode : int {
  good = 0,         // warnings too
  run_failed = 1,   // the run failed, or a comparison went beyond its tolerance
  usage = 2,        // wrong arguments, or a recipe that does not parse
  refused = 3,      // a guard stands in the way
  unreachable = 4,  // the daemon does not answer
  version_mismatch = 5,
  store = 6,       // the history file
  no_display = 7,  // no display, or no OpenGL
};

// Everything an operator needs. `what` is required; the other texts may be empty.
struct ErrorParts {
  std::string code;      // stable: RW-MESH-003
  std::string what;      // one sentence: what is wrong
  std::string where;     // file:line:column, key, or the thing concerned
  std::string expected;  // what would have been right
  std::string action;    // the way out: a key to change, a command to run
  ExitCode exit_code = ExitCode::usage;
};

// The parts with each text at most a few lines long, so that what is quoted from a file or a command line cannot fill the terminal.
ErrorParts shortened(ErrorParts parts);

class Error : public std::runtime_error {
 public:
  // Keeps the parts shortened.
  explicit Error(ErrorParts parts);

  const ErrorParts& parts() const { return parts_; }
  ExitCode exit_code() const { return parts_.exit_code; }

 private:
  ErrorParts parts_;
};

// The parts on at most four lines, for a terminal: "error RW-MESH-003: ...", "  at: ...", "  expected: ...", "  to fix: ...".
std::string describe(const ErrorParts& parts);
#if __has_include(<nlohmann/json_fwd.hpp>)
nlohmann::json to_json(const ErrorParts& parts);
ErrorParts error_parts_from_json(const nlohmann::json& json);
#endif

}  // namespace ringwright

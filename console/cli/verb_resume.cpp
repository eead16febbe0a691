#include "console/cli/steering.h"
#include "console/cli/verb.h"

namespace ringwright::cli {
namespace {

void build(Command& command, Invocation& invocation) {
  const auto run = add_run_argument(command);
  set_action(command, invocation, [run, &invocation] { return steer(*run, {"resume", "run.resume", {}, "goes on"}, invocation); });
}

const VerbEntry kEntry({Group::runs, "resume", "Let a paused run go on", build});

}  // namespace
}  // namespace ringwright::cli

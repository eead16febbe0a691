#include "console/cli/steering.h"
#include "console/cli/verb.h"

namespace ringwright::cli {
namespace {

void build(Command& command, Invocation& invocation) {
  const auto run = add_run_argument(command);
  set_action(command, invocation, [run, &invocation] {
    return steer(*run, {"checkpoint", "run.checkpoint", {}, "saves a checkpoint after its current step"}, invocation);
  });
}

const VerbEntry kEntry({Group::runs, "checkpoint", "Save a checkpoint of a run after its current step", build});

}  // namespace
}  // namespace ringwright::cli

#include <fmt/format.h>

#include <cstdio>

#include "console/cli/daemon_access.h"
#include "console/cli/run_text.h"
#include "console/cli/steering.h"
#include "console/cli/verb.h"
#include "shared/wire/requester.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::shared_ptr<std::string> run;
  bool after_step = false, after_checkpoint = false, now = false;
};

const char* mode_of(const Options& options) { return options.now ? "now" : options.after_checkpoint ? "after-checkpoint" : "after-step"; }

int stop(const Options& options, const Invocation& invocation) {
  if (options.after_checkpoint)
    return steer(*options.run,
                 {"stop", "run.stop", {{"mode", mode_of(options)}}, "stops after its next checkpoint; ringwright stop stops it earlier"}, invocation);
  wire::ControlClient client(own_endpoints(), kAnswerTimeout);
  const std::string run = find_run(client, *options.run);
  const nlohmann::json reply =
      client.request("run.stop", {{"run", run}, {"mode", mode_of(options)}, {"force", options.now}, {"who", wire::requester("ringwright stop")}});
  const std::string state = reply.value("state", "stopping");
  if (invocation.json)
    std::fputs(dump_line({{"run", run}, {"state", state}}).c_str(), stdout);
  else if (state == "stopping")
    fmt::print("{} is stopping{}\n", run, options.now ? "" : " after its current step; --now does not wait for it");
  else
    fmt::print("{} is {}\n", run, state);
  return 0;
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  options->run = add_run_argument(command);
  Option step = command.add_flag("--after-step", options->after_step, "after its current step (this is what it does without an option)");
  Option checkpoint = command.add_flag("--after-checkpoint", options->after_checkpoint, "after the next checkpoint that the recipe's period brings");
  Option now = command.add_flag("--now,--force", options->now, "kill its processes instead of letting it finish the step");
  checkpoint.excludes(step);
  now.excludes(step).excludes(checkpoint);
  set_action(command, invocation, [options, &invocation] { return stop(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "stop", "Stop a run after its current step, after its next checkpoint, or at once", build});

}  // namespace
}  // namespace ringwright::cli

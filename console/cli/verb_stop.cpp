#include <fmt/format.h>

#include <cstdio>

#include "console/cli/daemon_access.h"
#include "console/cli/run_text.h"
#include "console/cli/verb.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::string run;
  bool force = false;
};

int stop(const Options& options, const Invocation& invocation) {
  wire::ControlClient client(own_endpoints(), kAnswerTimeout);
  const std::string run = find_run(client, options.run);
  const nlohmann::json reply = client.request("run.stop", {{"run", run}, {"force", options.force}});
  const std::string state = reply.value("state", "stopping");
  if (invocation.json)
    std::fputs(dump_line({{"run", run}, {"state", state}}).c_str(), stdout);
  else if (state == "stopping")
    fmt::print("{} is stopping{}\n", run, options.force ? "" : " after its current step; --force does not wait for it");
  else
    fmt::print("{} is {}\n", run, state);
  return 0;
}

void build(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("run", options->run, "the run's id, the beginning of one, a name, or last")->required();
  command.add_flag("--force", options->force, "kill its processes instead of letting it finish the step");
  set_action(command, invocation, [options, &invocation] { return stop(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "stop", "Stop a run after its current step, or at once", build});

}  // namespace
}  // namespace ringwright::cli

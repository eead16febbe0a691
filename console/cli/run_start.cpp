#include "console/cli/run_start.h"

#include <fmt/format.h>

#include <cstdio>

#include "console/cli/run_follow.h"
#include "console/cli/run_text.h"

namespace ringwright::cli {

void StartOptions::add_to(Command& command) {
  command.add_option("--name", launch.name, "the run's name (default: the recipe's)");
  command.add_flag("--detach", detach, "print the run's id and leave it to the daemon");
  command.add_option("--store", daemon.store, "the history file, when this starts the daemon").type_name("FILE");
  command.add_option("--port", launch.port, "TCP port of the ranks' rendezvous (default: a free one)").check(in_range(1, 65535));
  command.footer(
      "\nCtrl-C stops the run after its step, a second one kills it. When the terminal hangs up (SIGHUP) the run goes\non, as with --detach. A "
      "daemon that this starts ends with its last run.");
}

int start_run(const recipe::Recipe& recipe, StartOptions options, const Invocation& invocation) {
  admit(recipe, invocation.json);
  const Launch launch = make_launch(recipe, options.launch);
  options.daemon.exit_when_idle = true;
  const nlohmann::json daemon = join_or_start_daemon(options.daemon);
  const wire::Endpoints endpoints = own_endpoints();
  const std::string id = wire::ControlClient(endpoints).request("run.launch", launch.request).at("run").get<std::string>();
  if (options.detach) {
    std::fputs((invocation.json ? dump_line({{"run", id}, {"name", launch.name}}) : id + "\n").c_str(), stdout);
    return 0;
  }
  RunDisplay display(RunDisplay::mode_for(invocation.json));
  if (!invocation.json)
    fmt::print("{} {} on {} ranks ({})\n", id, launch.name, launch.request.at("world_size").get<int>(), format_mesh(launch.request.at("mesh")));
  std::fflush(stdout);
  return follow({id, launch.name, daemon.at("store").get<std::string>(), launch.step_limit, daemon.value("node_sequence", uint64_t{0})}, endpoints,
                display);
}

}  // namespace ringwright::cli

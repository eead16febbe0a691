// ringwright run RECIPE [OVERRIDE..]: check it, start it, watch it.
#include <fmt/format.h>

#include <cstdio>

#include "console/cli/daemon_access.h"
#include "console/cli/run_follow.h"
#include "console/cli/run_launch.h"
#include "console/cli/run_text.h"
#include "console/cli/verb.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  LaunchOptions launch;
  DaemonOptions daemon;
  bool detach = false;
};

int run(Options options, const Invocation& invocation) {
  const recipe::Recipe recipe = load_one_recipe(options.words);
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

void build(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  command.add_option("recipe", options->words, "the recipe, and overrides: a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (remove)")->required();
  command.add_option("--name", options->launch.name, "the run's name (default: the recipe's)");
  command.add_flag("--detach", options->detach, "print the run's id and leave it to the daemon");
  command.add_option("--store", options->daemon.store, "the history file, when this starts the daemon")->type_name("FILE");
  command.add_option("--port", options->launch.port, "TCP port of the ranks' rendezvous (default: a free one)")->check(CLI::Range(1, 65535));
  command.footer("\nCtrl-C stops the run after its step, a second one kills it. A daemon that this starts ends with its last run.");
  set_action(command, invocation, [options, &invocation] { return run(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "run", "Start a recipe and watch it", build});

}  // namespace
}  // namespace ringwright::cli

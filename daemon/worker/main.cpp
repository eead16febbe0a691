// ringwright-worker: one rank of a run. Started by the daemon; by hand only to write a model's first weights.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "daemon/worker/algorithms/sft_run.h"
#include "daemon/worker/checkpoint/save.h"
#include "daemon/worker/runtime/channel.h"
#include "daemon/worker/runtime/talk.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "shared/wire/worker_spec.h"

namespace {

using ringwright::Error;
using ringwright::ExitCode;

struct Arguments {
  std::string spec, channel, initialize;
  int rank = 0;
  int listen_fd = -1;
  uint64_t seed = 42;
  ringwright::wire::TalkPlan talk;
};

void define_talk(CLI::App& app, ringwright::wire::TalkPlan& plan, CLI::Option* channel) {
  auto* talk = app.add_option("--talk", plan.points, "Train nothing, send N made-up metric points")->type_name("N")->needs(channel);
  auto* from = app.add_option("--talk-from", plan.from, "Train nothing, send the run that a history file or `runs export --format jsonl` has")
                   ->type_name("FILE")
                   ->needs(channel)
                   ->excludes(talk);
  app.add_option("--talk-run", plan.from_run, "Which run of a history file")->type_name("RUN")->capture_default_str()->needs(from);
  app.add_option("--talk-names", plan.names, "Metrics in a made-up step")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::PositiveNumber)
      ->needs(talk);
  app.add_option("--talk-seed", plan.seed, "Seed of the made-up values")->type_name("N")->needs(talk);
  app.add_option("--talk-nan-every", plan.nan_every, "Each metric is NaN or infinite once in N steps")->type_name("N")->needs(talk);
  app.add_option("--talk-spike-every", plan.spike_every, "Each metric has a spike once in N steps")->type_name("N")->needs(talk);
  app.add_option("--talk-log-every", plan.log_every, "A log line every N steps")->type_name("N")->needs(talk);
  app.add_option("--talk-sample-every", plan.sample_every, "Samples of a rollout, a teacher and an alignment every N steps")
      ->type_name("N")
      ->needs(talk);
  app.add_flag("--talk-spans", plan.spans, "The phases of each step")->needs(talk);
  app.add_option("--talk-steps-per-s", plan.steps_per_s, "Pace (default: as fast as the daemon takes them)")
      ->type_name("R")
      ->check(CLI::NonNegativeNumber);
}

void define_arguments(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", std::string("ringwright-worker ") + RINGWRIGHT_VERSION);
  auto* initialize = app.add_option("--init", arguments.initialize, "Write random weights beside DIR/config.json, then exit")->type_name("DIR");
  app.add_option("--seed", arguments.seed, "Seed of --init")->type_name("N")->capture_default_str()->needs(initialize);
  auto* spec = app.add_option("--spec", arguments.spec, "The run's specification, written by the daemon")->type_name("FILE")->excludes(initialize);
  auto* channel = app.add_option("--channel", arguments.channel, "The daemon's socket for workers")->type_name("ENDPOINT")->needs(spec);
  app.add_option("--rank", arguments.rank, "Global rank")->type_name("R")->check(CLI::NonNegativeNumber)->needs(spec);
  app.add_option("--listen-fd", arguments.listen_fd, "Rank 0: a listening TCP socket for the rendezvous")->type_name("FD")->needs(spec);
  define_talk(app, arguments.talk, channel);
}

int work(const Arguments& arguments) {
  const ringwright::wire::WorkerSpec spec = ringwright::wire::read_worker_spec(arguments.spec);
  ringwright::worker::Channel channel(
      {.endpoint = arguments.channel, .run = spec.run, .rank = arguments.rank, .orphan_grace_s = spec.orphan_grace_s, .directory = spec.directory});
  const ringwright::wire::TalkPlan& plan = arguments.talk.talks() ? arguments.talk : spec.talk;
  try {
    if (plan.talks()) {
      ringwright::worker::talk(channel, plan, arguments.rank);
    } else {
      const std::optional<int> listen_fd = arguments.listen_fd >= 0 ? std::optional(arguments.listen_fd) : std::nullopt;
      ringwright::worker::run_sft(spec, arguments.rank, listen_fd, channel);
    }
  } catch (const Error& error) {
    const std::string text = describe(error.parts());
    channel.log("error", text.substr(text.find(' ') + 1));  // the line's level says "error" already
    channel.event("run.error", to_json(error.parts()));
    channel.finish();
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    channel.log("error", fmt::format("unexpected error: {}", error.what()));
    channel.finish();
    return static_cast<int>(ExitCode::run_failed);
  }
  channel.finish();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"One rank of a Ringwright run. The daemon starts it; by hand it writes a model's first weights (--init).", "ringwright-worker"};
  Arguments arguments;
  define_arguments(app, arguments);
  try {
    app.parse(argc, argv);
    if (arguments.initialize.empty() && arguments.channel.empty()) throw CLI::RequiredError("--init, or --spec with --channel");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "{}\n",
               ringwright::describe({"RW-WORKER-001", error.what(), "command line", "", "see ringwright-worker --help", ExitCode::usage}));
    return static_cast<int>(ExitCode::usage);
  }
  try {
    if (arguments.initialize.empty()) return work(arguments);
    ringwright::worker::initialize_checkpoint(arguments.initialize, arguments.seed);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", describe(error.parts()));
    return static_cast<int>(error.exit_code());
  }
}

// A history file in a folder of its own that goes away with the test, and events to fill it with.
#pragma once

#include <filesystem>
#include <string>

#include "shared/history/store.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::history::testing {

class TemporaryFolder : public test::TemporaryFolder {
 public:
  using test::TemporaryFolder::TemporaryFolder;
  std::filesystem::path store() const { return path() / "history.db"; }
};

inline RunRecord make_run(const std::string& id, const std::string& name = "demo") {
  RunRecord run;
  run.id = id;
  run.name = name;
  run.algorithm = "sft";
  run.state = RunState::running;
  run.world_size = 2;
  run.mesh = {{"pp", 1}, {"dp_replicate", 1}, {"dp_shard", 1}, {"cp", 2}, {"tp", 1}};
  run.recipe = {{"sft", {{"max_num_steps", 50}}}};
  run.recipe_text = "sft: {max_num_steps: 50}\n";
  run.recipe_path = "demo.yaml";
  run.overrides = {"policy.dtensor_cfg.context_parallel_size=2"};
  return run;
}

inline wire::Event make_event(const std::string& run, wire::Kind kind, int rank, uint64_t sequence, nlohmann::json body) {
  wire::Event event;
  event.run = run;
  event.kind = kind;
  event.rank = rank;
  event.worker_sequence = sequence;
  event.time_unix_ns = 1'700'000'000'000'000'000 + static_cast<int64_t>(sequence) * 1'000'000;
  event.body = std::move(body);
  return event;
}

inline wire::Event metric(const std::string& run, int rank, uint64_t sequence, int64_t step, const std::string& name, double value) {
  nlohmann::json points;
  points[name] = value;
  return make_event(run, wire::Kind::metric, rank, sequence, {{"step", step}, {"tokens", step * 1024}, {"points", points}});
}

inline wire::Event log_line(const std::string& run, int rank, uint64_t sequence, const std::string& text) {
  return make_event(run, wire::Kind::log, rank, sequence, {{"level", "info"}, {"text", text}});
}

}  // namespace ringwright::history::testing

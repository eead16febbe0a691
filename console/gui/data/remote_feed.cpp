#include "console/gui/data/remote_feed.h"

#include "console/gui/data/run_orders.h"

namespace ringwright::gui {
namespace {

using nlohmann::json;

constexpr int kEventsPerAnswer = 1000;  // some hundred KiB: an answer's time is for a slow line too

history::RunState state_of(const json& run) {
  try {
    return history::run_state_from_string(run.value("state", ""));
  } catch (const Error&) {
    return history::RunState::lost;  // one that a later version knows
  }
}

history::RunRecord record_of(const json& run) {
  history::RunRecord record;
  record.id = run.at("run").get<std::string>();
  record.name = run.value("name", "");
  record.algorithm = run.value("algorithm", "");
  record.state = state_of(run);
  record.reason = run.value("reason", "");
  record.world_size = run.value("world_size", 1);
  record.mesh = run.value("mesh", json::object());
  record.created_unix_ns = run.value("created_unix_ns", int64_t{0});
  record.started_unix_ns = run.value("started_unix_ns", int64_t{0});
  record.ended_unix_ns = run.value("ended_unix_ns", int64_t{0});
  record.failed_rank = run.value("failed_rank", -1);
  record.last_step = run.value("last_step", int64_t{-1});
  record.color_index = run.value("color_index", 0);
  record.segment = run.value("segment", int64_t{1});
  record.archived = run.value("archived", false);
  record.tags = run.value("tags", std::vector<std::string>{});
  record.recipe_path = run.value("recipe_path", "");
  return record;
}

bool is_beginning(const wire::Event& event) {
  return event.kind == wire::Kind::event && event.body.value("name", "") == "run.state" && event.body.value("state", "") == "starting";
}

// As the daemon announces it.
history::RunRecord record_of(const wire::Event& beginning) {
  json run = beginning.body;
  run["run"] = beginning.run;
  run["name"] = run.value("run_name", "");
  return record_of(run);
}

}  // namespace

RemoteFeed::RemoteFeed(UpdateQueue& queue, const wire::Endpoints& endpoints, std::string place)
    : queue_(queue), client_(endpoints, kAnswerTimeout), place_(std::move(place)) {}

json RemoteFeed::hello() { return client_.request("hello"); }

void RemoteFeed::announce(const history::RunRecord& run) {
  const std::scoped_lock lock(mutex_);
  records_[run.id] = run;
}

void RemoteFeed::read_runs() {
  RunsRead read;
  const json list = client_.request("run.list"), snapshot = client_.request("snapshot");
  for (const json& run : list.at("runs")) read.runs.push_back(record_of(run));
  for (const history::RunRecord& run : read.runs) announce(run);
  queue_.push(std::move(read));
  for (const json& run : snapshot.at("runs")) {
    LatestRead latest{run.at("run").get<std::string>(), {}};
    const int64_t step = run.value("last_step", int64_t{-1}), tokens = run.value("tokens", int64_t{-1});
    for (const auto& [name, value] : run.value("points", json::object()).items())
      if (value.is_number()) latest.latest[name] = {step, value.get<double>(), tokens, wire::now_unix_ns(), 0};
    if (!latest.latest.empty()) queue_.push(std::move(latest));
  }
}

bool RemoteFeed::reduce(const std::string& run, State& state, const std::stop_token& stop) {
  bool whole = false;
  const auto end = hello().at("node_sequence").get<uint64_t>();  // what is newer comes live
  for (uint64_t next = 1; next <= end && !stop.stop_requested();) {
    const json reply = client_.request("events.range", {{"from", next}, {"to", end}, {"limit", kEventsPerAnswer}, {"run", run}});
    for (const json& frames : reply.at("events")) {
      const wire::Event event = wire::event_from_frames(frames);
      whole |= is_beginning(event);
      state.apply(event);
    }
    const auto after = reply.at("next").get<uint64_t>();
    if (after <= next) break;
    next = after;
  }
  return whole;
}

void RemoteFeed::read_details(const std::string& run, const std::stop_token& stop) {
  State state;
  {
    const std::scoped_lock lock(mutex_);
    const auto known = records_.find(run);
    if (known == records_.end())
      throw Error({"RW-SSH-010", "the daemon does not know the run", run, "a run of the history that it has now",
                   "look there: ringwright runs show " + run, ExitCode::usage});
    state.apply(RunsRead{{known->second}});
  }
  state.mark_reading(run);
  const bool whole = reduce(run, state, stop);
  if (stop.stop_requested()) return;
  const std::shared_ptr<Run> read = state.find(run);
  if (!whole)
    queue_.push(Notice{Notice::Level::info, read->record.name + ": the daemon's journal does not reach back to its beginning",
                       "What is older lies in the history file on " + place_ + ": ringwright runs show " + run});
  queue_.push(LatestRead{run, std::move(read->latest)});
  queue_.push(DetailsRead{run, std::move(read->metrics), {read->logs.begin(), read->logs.end()}, std::move(read->parts)});
}

void RemoteFeed::forward(const wire::Event& event) {
  if (!event.run.empty()) {
    const std::scoped_lock lock(mutex_);
    if (!records_.contains(event.run)) {
      if (is_beginning(event))
        queue_.push(RunsRead{{records_[event.run] = record_of(event)}});
      else
        unannounced_ = true;
    }
  }
  queue_.push(event);
}

}  // namespace ringwright::gui

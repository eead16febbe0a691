#include "daemon/worker/runtime/talk_recording.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/history/metric_value.h"
#include "shared/history/store.h"

namespace ringwright::worker {
namespace {

using nlohmann::json;

constexpr std::string_view kHistoryMagic = "SQLite format 3";
constexpr size_t kRowsMax = 10'000'000;  // of one kind, of one rank
constexpr size_t kLinesPerReadMax = 10'000;
// What a daemon or a worker says of the run that is going on, not of the one that was recorded.
constexpr const char* kOwnNames[] = {"run.state", "fingerprint", "run.error", "run.paused", "run.resumed"};

bool is_own(const std::string& name) { return std::find(std::begin(kOwnNames), std::end(kOwnNames), name) != std::end(kOwnNames); }

// Gathers the points of one step into one event, as they were sent.
class Collector {
 public:
  explicit Collector(int rank) : rank_(rank) {}

  void point(const std::string& name, const history::MetricPoint& point) {
    if (point.rank != rank_) return;
    steps_[{point.time_unix_ns, point.step, point.tokens}][name] = point.value;
  }
  void add(wire::Kind kind, int rank, int64_t time_unix_ns, json body) {
    if (rank != rank_) return;
    wire::Event event;
    event.kind = kind;
    event.rank = rank;
    event.time_unix_ns = time_unix_ns;
    event.body = std::move(body);
    events_.push_back(std::move(event));
  }
  void span(const history::SpanRecord& span) {
    add(wire::Kind::span, span.rank, span.end_ns, {{"phase", span.phase}, {"step", span.step}, {"begin_ns", span.begin_ns}, {"end_ns", span.end_ns}});
  }
  void sample(int64_t step, int rank, json body) {
    if (rank == rank_) samples_.emplace_back(step, std::move(body));
  }
  std::vector<wire::Event> take() {
    std::map<int64_t, int64_t> last_times;  // of each step's points
    for (auto& [key, points] : steps_) {
      const auto& [time_unix_ns, step, tokens] = key;
      last_times[step] = time_unix_ns;
      add(wire::Kind::metric, rank_, time_unix_ns, {{"step", step}, {"tokens", tokens}, {"points", points}});
    }
    for (auto& [step, body] : samples_) add(wire::Kind::sample, rank_, time_of_sample(step, last_times), std::move(body));
    std::stable_sort(events_.begin(), events_.end(), [](const auto& a, const auto& b) { return a.time_unix_ns < b.time_unix_ns; });
    return std::move(events_);
  }

 private:
  // Neither a store nor an export keeps times of samples: each follows the points of its step, or of the last step before it.
  static int64_t time_of_sample(int64_t step, const std::map<int64_t, int64_t>& last_times) {
    if (last_times.empty()) return std::numeric_limits<int64_t>::max();
    const auto behind = last_times.upper_bound(step);
    return behind == last_times.begin() ? behind->second : std::prev(behind)->second;
  }

  int rank_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::map<std::string, double>> steps_;
  std::vector<std::pair<int64_t, json>> samples_;  // with their steps
  std::vector<wire::Event> events_;
};

void collect_logs(const history::Reader& reader, const std::string& run, Collector& collector) {
  for (uint64_t after = 0;;) {
    const std::vector<history::LogLine> lines = reader.logs(run, after, kLinesPerReadMax, false);
    for (const history::LogLine& line : lines)
      collector.add(wire::Kind::log, line.rank, line.time_unix_ns, {{"level", line.level}, {"text", line.text}});
    if (lines.size() < kLinesPerReadMax) return;
    after = lines.back().node_sequence;
  }
}

Recording read_history(const wire::TalkPlan& plan, int rank) {
  const history::Reader reader(plan.from);
  const history::RunRecord run = reader.run(plan.from_run);
  Recording recording;
  recording.rank_count = std::max(1, run.world_size);
  const int wanted = rank % recording.rank_count;
  Collector collector(wanted);
  for (const std::string& name : reader.metric_names(run.id))
    for (const history::MetricPoint& point : reader.metric(run.id, name, wanted)) collector.point(name, point);
  collect_logs(reader, run.id, collector);
  for (const history::SpanRecord& span : reader.spans(run.id, 0, std::numeric_limits<int64_t>::max())) collector.span(span);
  std::vector<history::SampleRecord> samples = reader.samples(run.id, kRowsMax);
  for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) collector.sample(sample->step, sample->rank, std::move(sample->body));
  for (const wire::Event& event : reader.run_events(run.id, kRowsMax))
    if (event.kind == wire::Kind::event && !is_own(event.body.value("name", "")))
      collector.add(event.kind, event.rank, event.time_unix_ns, event.body);
  recording.events = collector.take();
  return recording;
}

Error bad_export(const std::string& file, size_t line, const std::string& why) {
  return Error({"RW-TALK-002", "the recording cannot be read: " + why, file + (line > 0 ? ":" + std::to_string(line) : ""),
                "a history file, or what `ringwright runs export --format jsonl` wrote", "export the run again"});
}

void take_metric(const json& row, Collector& collector) {
  collector.point(row.at("metric").get<std::string>(),
                  {row.at("step").get<int64_t>(), history::metric_value_from_json(row.at("value")), row.value("tokens", int64_t{-1}),
                   row.at("time_unix_ns").get<int64_t>(), row.value("rank", 0)});
}

void take_log(const json& row, Collector& collector) {
  collector.add(wire::Kind::log, row.value("rank", 0), row.at("time_unix_ns").get<int64_t>(),
                {{"level", row.value("level", "info")}, {"text", row.value("text", "")}});
}

void take_event(const json& row, Collector& collector) {
  const json& body = row.at("body");
  if (row.at("kind_number").get<int>() == static_cast<int>(wire::Kind::event) && !is_own(body.value("name", "")))
    collector.add(wire::Kind::event, row.value("rank", 0), row.at("time_unix_ns").get<int64_t>(), body);
}

void take_checkpoint(const json& row, Collector& collector) {
  json body = {{"name", "checkpoint.saved"}, {"step", row.at("step")}, {"path", row.at("path")}, {"bytes", row.value("bytes", uint64_t{0})}};
  collector.add(wire::Kind::event, 0, row.value("time_unix_ns", int64_t{0}), std::move(body));
}

void take_span(const json& row, Collector& collector) {
  collector.span({row.value("rank", 0), row.at("step").get<int64_t>(), row.at("phase").get<std::string>(), row.at("begin_ns").get<int64_t>(),
                  row.at("end_ns").get<int64_t>()});
}

void take_sample(const json& row, Collector& collector) {
  collector.sample(row.at("step").get<int64_t>(), row.value("rank", 0), row.at("body").get<json::object_t>());
}

// The lines of an export, and whether they are only taken where it has no events. What no worker sends, since it is of the run that was recorded, is
// passed over.
struct Line {
  const char* type;
  void (*take)(const json& row, Collector& collector);
  bool is_event_too = false;
};
constexpr Line kLines[] = {{"metric", take_metric}, {"log", take_log},       {"event", take_event}, {"checkpoint", take_checkpoint, true},
                           {"span", take_span},     {"sample", take_sample}, {"counters", nullptr}, {"segment", nullptr},
                           {"rank", nullptr},       {"note", nullptr},       {"alert", nullptr},    {"end", nullptr}};
constexpr int kFirstVersionWithEvents = 2;

// False: a kind of row that is not known here.
bool take_row(const json& row, bool has_events, Collector& collector) {
  const auto type = row.at("type").get<std::string>();
  const Line* line = std::find_if(std::begin(kLines), std::end(kLines), [&](const Line& entry) { return type == entry.type; });
  if (line == std::end(kLines)) return false;
  if (line->take && !(line->is_event_too && has_events)) line->take(row, collector);
  return true;
}

// The run's row comes first, and with it the number of ranks.
Recording read_export(const wire::TalkPlan& plan, int rank) {
  std::ifstream stream(plan.from);
  Recording recording;
  std::string text;
  if (!std::getline(stream, text)) throw bad_export(plan.from, 0, "it is empty");
  const json first = json::parse(text, nullptr, false);
  if (!first.is_object() || first.value("type", json()) != "run") throw bad_export(plan.from, 1, "the first line is not a run");
  recording.rank_count = first.contains("world_size") && first["world_size"].is_number_integer() ? std::max(1, first["world_size"].get<int>()) : 1;
  const json version = first.value("export_version", json(1));
  const bool has_events = version.is_number_integer() && version.get<int64_t>() >= kFirstVersionWithEvents;
  Collector collector(rank % recording.rank_count);
  for (size_t line = 2; std::getline(stream, text); ++line) {
    if (text.empty()) continue;
    try {
      if (!take_row(json::parse(text), has_events, collector)) ++recording.rows_skipped;
    } catch (const json::exception& error) {
      throw bad_export(plan.from, line, error.what());
    }
  }
  recording.events = collector.take();
  return recording;
}

}  // namespace

Recording read_recording(const wire::TalkPlan& plan, int rank) {
  if (const std::string kind = files::kind_if_not_regular(plan.from); !kind.empty()) throw bad_export(plan.from, 0, "it is " + kind);
  std::ifstream stream(plan.from, std::ios::binary);
  if (!stream) throw bad_export(plan.from, 0, "it cannot be opened");
  std::string magic(kHistoryMagic.size(), '\0');
  stream.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  return magic == kHistoryMagic ? read_history(plan, rank) : read_export(plan, rank);
}

}  // namespace ringwright::worker

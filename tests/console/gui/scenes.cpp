#include "tests/console/gui/scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "console/gui/services/commands.h"
#include "shared/history/activity.h"
#include "shared/history/store.h"

namespace ringwright::gui {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

history::RunRecord record_of(const std::string& id, const std::string& name, const Context& context, int ranks) {
  history::RunRecord record;
  record.id = id;
  record.name = name;
  record.algorithm = "sft";
  record.state = history::RunState::running;
  record.created_unix_ns = context.source.now_unix_ns() - 3600 * kSecond;
  record.started_unix_ns = record.created_unix_ns + kSecond;
  record.world_size = ranks;
  record.mesh = {{"pp", 1}, {"dp_replicate", 1}, {"dp_shard", 1}, {"cp", ranks}, {"tp", 1}};
  record.recipe = {{"policy", {{"max_total_sequence_length", 1'000'000}}}};
  record.last_step = 300;
  return record;
}

// Samples and spans of each activity, an estimate and what the ranks took.
RunParts parts_of(const history::RunRecord& record, const std::string& text) {
  RunParts parts;
  int64_t at_ns = record.started_unix_ns;
  for (const history::Activity& activity : history::kActivities) {
    for (int rank = 0; rank < std::min(record.world_size, 8); ++rank) {
      parts.spans.push_back({rank, 300, std::string(activity.phases.front()) + " of " + text, at_ns, at_ns + kSecond + rank * kSecond / 16});
      nlohmann::json body = {{"step", 300},
                             {"kind", activity.name},
                             {"prompt", text},
                             {"reply", text},
                             {"reward", 0.125 * rank},
                             {"length", 1000 * rank},
                             {"logprob_gap", 1e-5},
                             {"a_number_with_a_long_name", -12345.678}};
      body["pairs"] = {{{"student", {text}}, {"teacher", {text, text}}, {"correct", true}}, {{"student", {"a", "b"}}, {"teacher", nullptr}}};
      body["tokens"] = {text, "\n", "a", text.substr(0, 20)};
      body["token_losses"] = {0.25, nullptr, 3.5, 1e9};
      parts.samples.push_back({300, rank, std::move(body)});
    }
    at_ns += 2 * kSecond;
  }
  parts.estimate = estimate::Estimate{{{"parameters", int64_t{17} << 30, ""}, {"a term that " + text, int64_t{3} << 30, ""}}, int64_t{17} << 29};
  for (int rank = 0; rank < record.world_size; ++rank)
    parts.ranks[rank] = {
        rank, 300, record.started_unix_ns + 300 * kSecond, uint64_t{20} << 30, (uint64_t{21} << 30) + (uint64_t{1} << (20 + rank % 12)), 1e3};
  return parts;
}

DetailsRead details_of(const history::RunRecord& record, const std::string& metric, const std::string& text) {
  DetailsRead read{record.id, {}, {}, parts_of(record, text)};
  const auto series = std::make_shared<Series>();
  for (int64_t step = 1; step <= 300; ++step)
    series->append({step, 2.0 + std::sin(static_cast<double>(step) / 20), step * 1000, record.started_unix_ns + step * kSecond, 0});
  read.metrics[metric] = series;
  for (int rank = 0; rank < record.world_size; ++rank)
    read.logs.push_back({static_cast<uint64_t>(rank) + 1, record.started_unix_ns + rank * kSecond, rank, rank % 9 == 0 ? "warn" : "info", text});
  return read;
}

void show(Context& context, const std::vector<history::RunRecord>& records, const std::string& metric, const std::string& text) {
  context.state.apply(RunsRead{records});
  for (const history::RunRecord& record : records) {
    context.state.apply(details_of(record, metric, text));
    context.selection.shown.insert(record.id);
  }
  context.select(records.front().id);
}

void show_64_ranks(Context& context) {
  show(context, {record_of("r_64000000", "llama-70b-cp64", context, 64)}, "train/loss", "rank is up, 1 thread, 1.1B parameters");
  context.selection.rank = 33;
  context.commands.run("layout.from_run", context);  // its 1M tokens
}

void show_long_names(Context& context) {
  const std::string name = "packed-answers-with-a-name-that-somebody-made-from-every-key-that-differs-lr-3e-4-seed-17-cp2";
  std::vector<history::RunRecord> records;
  for (int i = 0; i < 3; ++i) {
    records.push_back(record_of(fmt::format("r_9000000{}", i), name, context, 2));
    records.back().reason = "stopped, because " + name;
  }
  show(context, records, "train/" + name, name + " " + name + " " + name);
  context.notify(Notice::Level::warning, name, name);
}

// T37: names that are the same, empty, or differ only behind what ImGui takes for the end of a label or the beginning of an id; of runs, metrics,
// nodes, devices, tags, phases and logs.
void show_hash_names(Context& context) {
  std::vector<history::RunRecord> records;
  for (const char* name : {"same", "same", "same", "", "x##1", "x##2", "x###z", "y###z"}) {
    records.push_back(record_of(fmt::format("r_3700000{}", records.size()), name, context, 2));
    history::RunRecord& record = records.back();
    record.created_unix_ns += static_cast<int64_t>(records.size());
    record.tags = {"t##1", "t##2"};
    record.reason = "why##1";
    record.fingerprint = {{"node", "node0"}, {"workers", {{"rank##1", {{"node", "node0"}}}, {"rank##2", {{"node", "node0"}}}}}};
    record.recipe["k##1"] = record.recipe["k##2"] = record.name;
  }
  context.selection.shown.clear();  // so that all their metrics find room in the view
  show(context, records, "m##1", "l##1");
  for (const history::RunRecord& record : records) {
    for (const char* metric : {"m##2", "m###z", "n###z", "##"}) {
      wire::Event event{record.id, wire::Kind::metric, 0, 1, 1, record.started_unix_ns + kSecond, {{"step", 1}}};
      event.body["points"][metric] = 1.0;
      context.state.apply(event);
    }
    for (const char* phase : {"forward##1", "forward##2", "a###z", "b###z"})
      context.state.apply(
          wire::Event{record.id,
                      wire::Kind::span,
                      0,
                      2,
                      2,
                      record.started_unix_ns + kSecond,
                      {{"phase", phase}, {"step", 1}, {"begin_ns", record.started_unix_ns}, {"end_ns", record.started_unix_ns + kSecond}}});
    std::vector<history::AlertRecord> alerts;
    for (const char* topic : {"m##1", "m##2", "a###z", "b###z"})
      alerts.push_back({"nan", topic, std::string(topic) + " is NaN", nlohmann::json::object(), 1, record.started_unix_ns, record.started_unix_ns});
    context.state.apply(AlertsRead{record.id, alerts});
  }
  auto report = std::make_shared<wire::DeviceReport>();
  report->read_unix_ns = context.source.now_unix_ns();
  for (int index = 0; index < 2; ++index) {
    wire::DeviceReading device;
    device.index = index;
    device.name = "node0";
    report->devices.push_back(device);
  }
  context.state.apply(DevicesRead{report});
}

void set_link(Context& context, LinkState state, int64_t age_s) {
  Link link;
  link.state = state;
  link.place = "ssh://head-01.a-rather-long-cluster-name.example";
  link.last_message_unix_ns = context.source.now_unix_ns() - age_s * kSecond;
  context.state.apply(LinkChanged{link});
}

void show_error(Context& context) {
  const ErrorParts parts{"RW-HIST-004", "the run's series cannot be read: the file ends inside a block", "history.db, run r_18f30000",
                         "a whole block", "ringwright history check names what is damaged"};
  for (const auto& run : context.state.runs()) context.state.apply(DetailsFailed{run->record.id, parts});
  context.state.apply(Notice{Notice::Level::error, "alert hook 'page-the-night-shift' ended with exit code 3", "ringwright alert list"});
}

}  // namespace

const std::vector<Scene>& data_scenes() {
  static const std::vector<Scene> scenes = {{"empty", 0, nullptr},
                                            {"one", 1, nullptr},
                                            {"many", 1000, nullptr},
                                            {"ranks-64", 1, show_64_ranks},
                                            {"long-names", 1, show_long_names},
                                            {"hash-names", 1, show_hash_names}};
  return scenes;
}

const Scene& data_scene(const std::string& name) {
  return *std::find_if(data_scenes().begin(), data_scenes().end(), [&](const Scene& scene) { return scene.name == name; });
}

const std::vector<Scene>& trouble_scenes() {
  static const std::vector<Scene> scenes = {{"stale", 12, [](Context& context) { set_link(context, LinkState::stale, 5); }},
                                            {"lost", 12, [](Context& context) { set_link(context, LinkState::lost, 41); }},
                                            {"error", 12, show_error}};
  return scenes;
}

Options scene_options(const Scene& scene, const std::filesystem::path& folder) {
  Options options;
  options.screenshot = folder / "unused.png";  // a still console: no clock, no blinking, nothing of the user's is read or kept
  options.demo_runs = scene.demo_runs;
  options.theme = "dark";
  options.scale = 1;
  if (scene.demo_runs > 0) return options;
  options.store = folder / "empty.db";
  if (!std::filesystem::exists(*options.store)) history::Writer writer(*options.store, {});
  return options;
}

}  // namespace ringwright::gui

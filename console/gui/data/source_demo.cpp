#include <fmt/format.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "console/gui/data/demo_recording.h"
#include "console/gui/data/guarded.h"
#include "console/gui/data/history_edits.h"
#include "console/gui/data/requests.h"
#include "console/gui/data/source.h"

namespace ringwright::gui {
namespace {

using history::RunState;

constexpr auto kLiveTick = std::chrono::milliseconds(400);
constexpr int kRunsWithDetails = 36;  // in the file; in memory all have them

// What becomes of a run when the demonstration is given an order.
struct Outcome {
  RunState state;
  const char* reason;
  const char* text;
};
// In the order of Order.
constexpr std::array<Outcome, 6> kOutcomes = {{{RunState::stopping, "", "stops after this step"},
                                               {RunState::stopping, "", "stops after the next checkpoint"},
                                               {RunState::stopped, "forced", "killed"},
                                               {RunState::paused, "", "paused"},
                                               {RunState::running, "", "goes on"},
                                               {RunState::running, "", "saves a checkpoint after this step"}}};

class DemoSource : public Source {
 public:
  DemoSource(UpdateQueue& queue, int runs, bool live) : queue_(queue), live_(live) {
    std::vector<history::RunRecord> records;
    for (int i = 0; i < runs; ++i) records.push_back(demo::record_of(i));
    queue_.push(LinkChanged{link()});
    push_devices();
    for (int i = 0; i < runs; ++i) index_of_[records[static_cast<size_t>(i)].id] = i;
    records_ = records;
    queue_.push(RunsRead{std::move(records)});
    for (int i = 0; i < runs; ++i) push_latest(i);
    thread_ = std::jthread([this](std::stop_token stop) { live_on(stop); });
  }
  ~DemoSource() override {
    thread_.request_stop();
    thread_.join();
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  void want_details(const std::string& run) override {
    const auto found = index_of_.find(run);
    if (found == index_of_.end()) return;
    const history::RunRecord& record = records_[static_cast<size_t>(found->second)];
    queue_.push(
        DetailsRead{run, demo::metrics_of(found->second, record), demo::logs_of(found->second, record), demo::parts_of(found->second, record)});
  }
  std::string why_no_orders() const override { return ""; }
  void order(const std::string& run, Order order) override {
    const auto found = index_of_.find(run);
    if (found == index_of_.end()) return;
    const Outcome& outcome = kOutcomes[static_cast<size_t>(order)];
    if (order != Order::checkpoint)
      queue_.push(wire::Event{run,
                              wire::Kind::event,
                              -1,
                              0,
                              ++sequence_,
                              now_unix_ns(),
                              {{"name", "run.state"}, {"state", history::to_string(outcome.state)}, {"reason", outcome.reason}}});
    queue_.push(Notice{Notice::Level::good, fmt::format("{}: {}", records_[static_cast<size_t>(found->second)].name, outcome.text), ""});
  }
  std::string why_no_launch() const override { return "a demonstration starts no runs; start ringwright-console without --demo"; }
  std::string why_no_edits() const override { return ""; }
  void edit(Edit edit) override { requests_.add(std::move(edit)); }
  // A file of this demonstration's own, made when it is first asked for.
  std::filesystem::path history_file() override {
    const std::scoped_lock lock(file_mutex_);
    if (!folder_.empty()) return folder_ / "history.db";
    std::string name = (std::filesystem::temp_directory_path() / "ringwright-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return {};
    folder_ = name;
    demo::write_history(folder_ / "history.db", static_cast<int>(records_.size()), kRunsWithDetails);
    return folder_ / "history.db";
  }
  int64_t now_unix_ns() const override { return demo::kNow_unix_ns + ticks_.load() * (kLiveTick.count() * 1'000'000); }
  std::string cli_arguments() const override { return ""; }

 private:
  Link link() const {
    Link link;
    link.state = LinkState::connected;
    link.place = "demonstration";
    link.node_sequence = sequence_;
    link.last_message_unix_ns = now_unix_ns() - demo::kSecond_ns / 5;
    return link;
  }

  void push_devices() { queue_.push(DevicesRead{std::make_shared<const wire::DeviceReport>(demo::devices_at(now_unix_ns()))}); }

  void push_latest(int index) {
    const history::RunRecord& run = records_[static_cast<size_t>(index)];
    LatestRead update{run.id, demo::latest_of(index, run)};
    if (update.latest.empty()) return;
    queue_.push(std::move(update));
    if (index >= kRunsWithDetails) return;
    if (RunParts parts = demo::parts_of(index, run); !parts.alerts.empty()) queue_.push(AlertsRead{run.id, std::move(parts.alerts)});
  }

  void live_on(const std::stop_token& stop) {
    auto next = std::chrono::steady_clock::now() + kLiveTick;
    while (!stop.stop_requested()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
      if (const auto request = requests_.next(stop, std::max(left, std::chrono::milliseconds(0)))) {
        if (const auto* edit = std::get_if<Edit>(&*request)) change(*edit);
        continue;
      }
      if (stop.stop_requested()) return;
      next += kLiveTick;
      if (live_) guarded([this] { tick(); }, [this](const ErrorParts& parts) { queue_.push(SourceFailed{parts}); });
    }
  }

  // The file is made for the first of them.
  void change(const Edit& edit) {
    guarded([&] { edit_history(queue_, history_file(), edit); }, [this](const ErrorParts& parts) { queue_.push(notice_of(parts)); });
  }

  void tick() {
    const int64_t tick = ++ticks_;
    for (size_t i = 0; i < records_.size(); ++i) {
      if (records_[i].state == RunState::running) step_on(static_cast<int>(i), tick);
    }
    queue_.push(LinkChanged{link()});
    push_devices();
  }

  void step_on(int index, int64_t tick) {
    const history::RunRecord& run = records_[static_cast<size_t>(index)];
    const int64_t step = run.last_step + tick;
    const auto push = [&](wire::Kind kind, int rank, nlohmann::json body) {
      queue_.push(wire::Event{run.id, kind, rank, 0, ++sequence_, now_unix_ns(), std::move(body)});
    };
    push(wire::Kind::metric, 0, {{"step", step}, {"tokens", demo::tokens_at(index, step)}, {"points", demo::points_at(index, step)}});
    push(wire::Kind::log, 0, {{"level", "info"}, {"text", demo::log_text_at(index, step)}});
    for (const history::SpanRecord& span : demo::spans_at(index, run, step))
      push(wire::Kind::span, span.rank, {{"phase", span.phase}, {"step", step}, {"begin_ns", span.begin_ns}, {"end_ns", span.end_ns}});
    for (history::SampleRecord& sample : demo::samples_at(index, run, step)) push(wire::Kind::sample, sample.rank, std::move(sample.body));
    for (int rank = 0; rank < run.world_size; ++rank)
      push(wire::Kind::heartbeat, rank,
           {{"step", step}, {"resident_bytes", demo::resident_bytes_at(index, rank)}, {"cpu_seconds", static_cast<double>(step) * 6.5}});
  }

  UpdateQueue& queue_;
  const bool live_;
  std::vector<history::RunRecord> records_;
  std::unordered_map<std::string, int> index_of_;
  std::atomic<int64_t> ticks_{0};
  std::atomic<uint64_t> sequence_{184'392};
  std::mutex file_mutex_;
  std::filesystem::path folder_;
  Requests requests_;
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Source> make_demo_source(UpdateQueue& queue, int runs, bool live) { return std::make_unique<DemoSource>(queue, runs, live); }

}  // namespace ringwright::gui

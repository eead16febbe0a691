#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>

#include "console/gui/data/source.h"

namespace ringwright::gui {
namespace {

using history::RunState;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'772'452'800 * kSecond;  // 2026-03-02 12:00:00 UTC
constexpr auto kLiveTick = std::chrono::milliseconds(400);

// The same numbers on every machine, unlike std::normal_distribution.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL) {}
  double uniform() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }
  // Nearly normal: the sum of twelve.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  uint64_t state_;
};

struct Scene {
  const char* name;
  RunState state;
  const char* reason;
  int dp, cp, tp;
  int64_t steps;
  double step_s, started_hours_ago, tokens_per_s, loss_end;
};

constexpr std::array kScenes = {
    Scene{"demo-sft-cp2", RunState::running, "", 1, 2, 1, 1284, 8.9, 3.2, 18'400, 0.41},
    Scene{"demo-sft-cp1", RunState::running, "", 1, 1, 1, 612, 24.0, 4.1, 22'040, 0.62},
    Scene{"llama-1b-sft-cp8-long", RunState::stopping, "", 1, 8, 1, 940, 22.0, 5.8, 31'700, 0.49},
    Scene{"llama-1b-sft-cp4", RunState::finished, "", 1, 4, 1, 1200, 19.0, 14.5, 27'100, 0.53},
    Scene{"kjv-cosine-cp2", RunState::finished, "", 1, 2, 1, 1230, 26.0, 30.1, 19'200, 0.57},
    Scene{"lr-too-high-cp4", RunState::failed, "loss is NaN at step 38", 1, 4, 1, 44, 9.8, 32.0, 15'000, 2.1},
    Scene{"packed-answers-with-a-rather-long-name-cp2", RunState::finished, "", 1, 2, 1, 1500, 12.5, 50.0, 20'800, 0.66},
    Scene{"probe-contiguous-cp2", RunState::stopped, "stopped by the operator", 1, 2, 1, 411, 7.0, 52.0, 12'900, 1.02},
    Scene{"demo-sft-cp2", RunState::finished, "", 1, 2, 1, 800, 9.0, 74.0, 18'100, 0.48},
    Scene{"tp2-cp2-sft", RunState::lost, "the daemon ended", 1, 2, 2, 655, 11.0, 76.0, 16'300, 0.71},
    Scene{"warmup-1000", RunState::finished, "", 1, 2, 1, 1000, 8.0, 99.0, 21'500, 0.60},
    Scene{"queued-nightly", RunState::queued, "", 1, 2, 1, 0, 0, 0.01, 0, 0},
};

history::RunRecord record_of(int index) {
  const Scene& scene = kScenes[static_cast<size_t>(index) % kScenes.size()];
  const int round = index / static_cast<int>(kScenes.size());
  history::RunRecord run;
  run.id = fmt::format("r_{:08x}", 0x18f30000u + static_cast<uint32_t>(index) * 2654435761u % 0xFFFFu);
  run.name = round == 0 ? scene.name : fmt::format("{}-{}", scene.name, round + 1);
  run.algorithm = "sft";
  run.state = round == 0 || history::is_final(scene.state) ? scene.state : RunState::finished;
  run.reason = scene.reason;
  run.created_unix_ns = kNow - static_cast<int64_t>((scene.started_hours_ago + round * 100) * 3600) * kSecond;
  if (scene.steps > 0) run.started_unix_ns = run.created_unix_ns + 2 * kSecond;
  if (history::is_final(run.state))
    run.ended_unix_ns = run.started_unix_ns + static_cast<int64_t>(static_cast<double>(scene.steps) * scene.step_s * 1e9);
  run.world_size = scene.dp * scene.cp * scene.tp;
  run.recipe = {{"policy", {{"max_total_sequence_length", 16384}}}};
  run.mesh = {{"pp", 1}, {"dp_replicate", 1}, {"dp_shard", scene.dp}, {"cp", scene.cp}, {"tp", scene.tp}};
  run.recipe_path = fmt::format("assets/recipes/{}.yaml", scene.name);
  run.failed_rank = run.state == RunState::failed ? 3 : -1;
  run.last_step = scene.steps > 0 ? scene.steps : -1;
  run.color_index = index % 10;
  return run;
}

struct Sample {
  double loss, lr, grad_norm, tokens_per_s;
};

Sample sample_at(const Scene& scene, int64_t step, Noise& noise) {
  const double t = static_cast<double>(step);
  const double warm = std::min(1.0, t / 100);
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, t / 1500)));
  Sample sample{};
  sample.loss = scene.loss_end + (2.15 - scene.loss_end) * std::exp(-t / 210) + noise.normal() * 0.035;
  sample.lr = 3e-4 * warm * (0.1 + 0.9 * cosine);
  sample.grad_norm = (0.35 + 1.05 * std::exp(-t / 300)) * std::exp(noise.normal() * 0.08);
  const bool checkpoint = step % 250 < 4 && step > 10;
  sample.tokens_per_s = scene.tokens_per_s * (checkpoint ? 0.72 + noise.uniform() * 0.1 : 1 + noise.normal() * 0.018);
  if (scene.state == RunState::failed && step >= 38) sample.loss = sample.grad_norm = std::numeric_limits<double>::quiet_NaN();
  if (scene.state == RunState::stopping && step >= 520 && step < 526) sample.grad_norm = std::numeric_limits<double>::quiet_NaN();
  if (scene.state == RunState::stopping && step == 530) sample.grad_norm = 2.4;
  return sample;
}

nlohmann::json points_of(const Sample& sample) {
  return {{"train/loss", sample.loss}, {"train/lr", sample.lr}, {"train/grad_norm", sample.grad_norm}, {"perf/tokens_per_s", sample.tokens_per_s}};
}

uint64_t seed_of(int index) { return 1000 + static_cast<uint64_t>(index); }

std::map<std::string, std::shared_ptr<Series>> metrics_of(int index, const history::RunRecord& run) {
  const Scene& scene = kScenes[static_cast<size_t>(index) % kScenes.size()];
  std::map<std::string, std::shared_ptr<Series>> metrics;
  Noise noise(seed_of(index));
  for (int64_t step = 1; step <= scene.steps; ++step) {
    const Sample sample = sample_at(scene, step, noise);
    const int64_t time = run.started_unix_ns + static_cast<int64_t>(static_cast<double>(step) * scene.step_s * 1e9);
    const auto tokens = static_cast<int64_t>(static_cast<double>(step) * scene.step_s * scene.tokens_per_s);
    const nlohmann::json points = points_of(sample);
    for (const auto& [name, value] : points.items()) {
      std::shared_ptr<Series>& series = metrics[name];
      if (!series) series = std::make_shared<Series>();
      series->append({step, value.get<double>(), tokens, time, 0});
    }
  }
  return metrics;
}

std::string log_text(const Scene& scene, int64_t step, Noise& noise) {
  const Sample sample = sample_at(scene, step, noise);
  return fmt::format("step {} loss {:.4f} grad_norm {:.3f} lr {:.3e} tokens/s {:.0f}", step, sample.loss, sample.grad_norm, sample.lr,
                     sample.tokens_per_s);
}

std::vector<history::LogLine> logs_of(int index, const history::RunRecord& run) {
  const Scene& scene = kScenes[static_cast<size_t>(index) % kScenes.size()];
  std::vector<history::LogLine> lines;
  if (scene.steps == 0) return lines;
  uint64_t sequence = static_cast<uint64_t>(index) * 10'000;
  const auto add = [&](int64_t time, int rank, const char* level, std::string text) {
    lines.push_back({++sequence, time, rank, level, std::move(text)});
  };
  add(run.started_unix_ns, -1, "info", fmt::format("run {} ({}) starts {} workers", run.id, run.name, run.world_size));
  for (int rank = 0; rank < run.world_size; ++rank) {
    add(run.started_unix_ns + kSecond / 4 * (rank + 1), rank, "info",
        fmt::format("rank {} of {}: Gloo on 127.0.0.1, 1 thread, 7.3M parameters", rank, run.world_size));
  }
  add(run.started_unix_ns + 3 * kSecond, 0, "debug", "layout round_robin: 2 chunks a rank, sequence 2,048 padded to 2,048");
  Noise noise(seed_of(index) + 77);
  for (int64_t step = std::max<int64_t>(1, scene.steps - 220); step <= scene.steps; ++step) {
    const int64_t time = run.started_unix_ns + static_cast<int64_t>(static_cast<double>(step) * scene.step_s * 1e9);
    add(time, 0, "info", log_text(scene, step, noise));
    if (step % 50 == 0)
      add(time + kSecond, 0, "info", fmt::format("validation at step {}: loss {:.4f} over 64 sequences", step, scene.loss_end + 0.06));
    if (step % 97 == 0)
      add(time + kSecond / 2, run.world_size - 1, "warn", fmt::format("waited {} ms for keys of rank 0 in ring step 1", 180 + step % 40));
  }
  if (run.state == RunState::failed) {
    add(run.ended_unix_ns, 3, "error", "loss is NaN at step 38: last finite gradient norm 1.204 at step 37");
    add(run.ended_unix_ns + 1, -1, "error", "run failed: rank 3 ended with exit code 1; the other ranks were stopped");
  }
  return lines;
}

class DemoSource : public Source {
 public:
  DemoSource(UpdateQueue& queue, int runs, bool live) : queue_(queue), live_(live) {
    std::vector<history::RunRecord> records;
    for (int i = 0; i < runs; ++i) records.push_back(record_of(i));
    queue_.push(LinkChanged{link()});
    for (int i = 0; i < runs; ++i) index_of_[records[static_cast<size_t>(i)].id] = i;
    records_ = records;
    queue_.push(RunsRead{std::move(records)});
    for (int i = 0; i < runs; ++i) push_latest(i);
    if (live_) thread_ = std::jthread([this](std::stop_token stop) { live_on(stop); });
  }

  void want_details(const std::string& run) override {
    const auto found = index_of_.find(run);
    if (found == index_of_.end()) return;
    const history::RunRecord& record = records_[static_cast<size_t>(found->second)];
    queue_.push(DetailsRead{run, metrics_of(found->second, record), logs_of(found->second, record)});
  }
  bool can_stop() const override { return true; }
  void stop(const std::string& run, bool force) override {
    const auto found = index_of_.find(run);
    if (found == index_of_.end()) return;
    const RunState state = force ? RunState::stopped : RunState::stopping;
    wire::Event event{run,
                      wire::Kind::event,
                      -1,
                      0,
                      ++sequence_,
                      now_unix_ns(),
                      {{"name", "run.state"}, {"state", history::to_string(state)}, {"reason", force ? "forced" : ""}}};
    queue_.push(std::move(event));
    queue_.push(Notice{Notice::Level::good,
                       fmt::format("{}: {}", records_[static_cast<size_t>(found->second)].name, force ? "killed" : "stops after this step"), ""});
  }
  int64_t now_unix_ns() const override { return kNow + ticks_.load() * (kLiveTick.count() * 1'000'000); }
  std::string cli_arguments() const override { return ""; }

 private:
  Link link() const {
    Link link;
    link.state = LinkState::connected;
    link.place = "demonstration";
    link.node_sequence = sequence_;
    link.last_message_unix_ns = now_unix_ns() - kSecond / 5;
    return link;
  }

  void push_latest(int index) {
    const Scene& scene = kScenes[static_cast<size_t>(index) % kScenes.size()];
    if (scene.steps == 0) return;
    const history::RunRecord& run = records_[static_cast<size_t>(index)];
    LatestRead update{run.id, {}};
    for (const auto& [name, series] : metrics_of(index, run)) {
      const size_t last = series->size() - 1;
      update.latest[name] = {series->step(last), series->value(last), series->tokens(last), series->time_unix_ns(last), 0};
    }
    queue_.push(std::move(update));
  }

  void live_on(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    for (int64_t tick = 1; !stop.stop_requested(); ++tick) {
      std::unique_lock lock(mutex);
      if (wake.wait_for(lock, stop, kLiveTick, [] { return false; }); stop.stop_requested()) return;
      ticks_ = tick;
      for (size_t i = 0; i < records_.size(); ++i) {
        if (records_[i].state == RunState::running) step_on(static_cast<int>(i), tick);
      }
      queue_.push(LinkChanged{link()});
    }
  }

  void step_on(int index, int64_t tick) {
    const Scene& scene = kScenes[static_cast<size_t>(index) % kScenes.size()];
    const std::string& run = records_[static_cast<size_t>(index)].id;
    const int64_t step = scene.steps + tick;
    Noise noise(seed_of(index) + static_cast<uint64_t>(step) * 31);
    const Sample sample = sample_at(scene, step, noise);
    const auto tokens = static_cast<int64_t>(static_cast<double>(step) * scene.step_s * scene.tokens_per_s);
    queue_.push(
        wire::Event{run, wire::Kind::metric, 0, 0, ++sequence_, now_unix_ns(), {{"step", step}, {"tokens", tokens}, {"points", points_of(sample)}}});
    queue_.push(wire::Event{run, wire::Kind::log, 0, 0, ++sequence_, now_unix_ns(), {{"level", "info"}, {"text", log_text(scene, step, noise)}}});
  }

  UpdateQueue& queue_;
  const bool live_;
  std::vector<history::RunRecord> records_;
  std::unordered_map<std::string, int> index_of_;
  std::atomic<int64_t> ticks_{0};
  std::atomic<uint64_t> sequence_{184'392};
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Source> make_demo_source(UpdateQueue& queue, int runs, bool live) { return std::make_unique<DemoSource>(queue, runs, live); }

}  // namespace ringwright::gui

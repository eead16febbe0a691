#include "console/gui/data/demo_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "shared/history/edits.h"

namespace ringwright::gui::demo {
namespace {

using history::RunState;

constexpr int64_t kSecond = kSecond_ns, kNow = kNow_unix_ns;

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

const Scene& scene_of(int index) { return kScenes[static_cast<size_t>(index) % kScenes.size()]; }

nlohmann::json recipe_of(const Scene& scene) {
  return {{"policy",
           {{"model_name", scene.tokens_per_s > 20'000 ? "assets/models/llama-tiny" : "assets/models/qwen-tiny"},
            {"max_total_sequence_length", 16384},
            {"train_global_batch_size", 8},
            {"dtensor_cfg", {{"context_parallel_size", scene.cp}, {"tensor_parallel_size", scene.tp}}},
            {"optimizer", {{"kwargs", {{"lr", scene.state == RunState::failed ? 3e-2 : 3e-4}, {"weight_decay", 0.1}}}}}}},
          {"sft", {{"max_num_steps", 1500}, {"seed", 42}}}};
}

struct Sample {
  double loss, lr, grad_norm, tokens_per_s;
};

Sample sample_at(const Scene& scene, int64_t step, Noise noise) {
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

// Each step has noise of its own, so the last values of a thousand runs are known without their series.
Noise noise_at(int index, int64_t step) { return Noise((1000 + static_cast<uint64_t>(index)) * 1'000'003 + static_cast<uint64_t>(step)); }

history::MetricPoint point_at(const Scene& scene, const history::RunRecord& run, int64_t step, double value) {
  const int64_t time = run.started_unix_ns + static_cast<int64_t>(static_cast<double>(step) * scene.step_s * 1e9);
  const auto tokens = static_cast<int64_t>(static_cast<double>(step) * scene.step_s * scene.tokens_per_s);
  return {step, value, tokens, time, 0};
}

std::string log_text(int64_t step, const Sample& sample) {
  return fmt::format("step {} loss {:.4f} grad_norm {:.3f} lr {:.3e} tokens/s {:.0f}", step, sample.loss, sample.grad_norm, sample.lr,
                     sample.tokens_per_s);
}

}  // namespace

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
  run.recipe = recipe_of(scene);
  run.fingerprint = {{"node", round % 2 == 0 ? "node-1" : "node-2"}, {"libraries", {{"libtorch", "2.8.0"}}}, {"ringwright", "0.6.0"}};
  if (scene.steps > 1000) run.tags = {"baseline"};
  run.mesh = {{"pp", 1}, {"dp_replicate", 1}, {"dp_shard", scene.dp}, {"cp", scene.cp}, {"tp", scene.tp}};
  run.recipe_path = fmt::format("assets/recipes/{}.yaml", scene.name);
  run.failed_rank = run.state == RunState::failed ? 3 : -1;
  run.last_step = scene.steps > 0 ? scene.steps : -1;
  run.color_index = index % 10;
  return run;
}

std::map<std::string, std::shared_ptr<Series>> metrics_of(int index, const history::RunRecord& run) {
  const Scene& scene = scene_of(index);
  std::map<std::string, std::shared_ptr<Series>> metrics;
  for (int64_t step = 1; step <= scene.steps; ++step) {
    const nlohmann::json points = points_at(index, step);
    for (const auto& [name, value] : points.items()) {
      std::shared_ptr<Series>& series = metrics[name];
      if (!series) series = std::make_shared<Series>();
      series->append(point_at(scene, run, step, value.get<double>()));
    }
  }
  return metrics;
}

std::map<std::string, history::MetricPoint> latest_of(int index, const history::RunRecord& run) {
  const Scene& scene = scene_of(index);
  std::map<std::string, history::MetricPoint> latest;
  if (scene.steps == 0) return latest;
  const nlohmann::json points = points_at(index, scene.steps);
  for (const auto& [name, value] : points.items()) latest[name] = point_at(scene, run, scene.steps, value.get<double>());
  return latest;
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
  for (int64_t step = std::max<int64_t>(1, scene.steps - 220); step <= scene.steps; ++step) {
    const int64_t time = run.started_unix_ns + static_cast<int64_t>(static_cast<double>(step) * scene.step_s * 1e9);
    add(time, 0, "info", log_text_at(index, step));
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

namespace {

// Phases of a step in the order of time, as shares of the step.
struct Phase {
  const char* name;
  double share;
};
constexpr std::array kPhases = {Phase{"data", 0.03}, Phase{"forward", 0.34}, Phase{"backward", 0.46}, Phase{"reduce", 0.07}, Phase{"optimizer", 0.1}};
constexpr int64_t kSpanSteps = 12, kSampleEvery = 100;

int slow_rank(const Scene& scene) { return scene.dp * scene.cp * scene.tp - 1; }

void add_samples(const Scene& scene, const history::RunRecord& run, RunParts& parts) {
  constexpr std::array kPrompts = {"What is 17 * 23?", "Name the capital of Australia.", "Write a haiku about rings.", "Sort 5, 3, 9, 1."};
  constexpr std::array kReplies = {"17 * 23 = 391.", "The capital of Australia is Canberra.",
                                   "Tokens pass around\neach rank holds a part of all\nthe circle closes", "1, 3, 5, 9"};
  Noise noise(static_cast<uint64_t>(scene.steps) + 5);
  for (int64_t step = kSampleEvery; step <= scene.steps; step += kSampleEvery) {
    for (size_t i = 0; i < kPrompts.size(); ++i) {
      const double reward = std::min(1.0, 0.3 + noise.uniform() * 0.7);
      parts.samples.push_back({step,
                               static_cast<int>(i) % run.world_size,
                               {{"step", step},
                                {"prompt", kPrompts[i]},
                                {"reply", kReplies[i]},
                                {"reward", std::round(reward * 1000) / 1000},
                                {"length", std::string_view(kReplies[i]).size() / 4 + 3},
                                {"logprob_gap", std::round(noise.uniform() * 40) / 1000}}});
    }
  }
}

void add_alerts(const Scene& scene, const history::RunRecord& run, RunParts& parts) {
  if (run.state == RunState::failed)
    parts.alerts.push_back({"failed", "", "the run failed: " + run.reason, {{"failed_rank", 3}}, 1, run.ended_unix_ns, run.ended_unix_ns});
  if (scene.state != RunState::stopping || run.state != RunState::stopping) return;
  const int64_t at = run.started_unix_ns + static_cast<int64_t>(522 * scene.step_s) * kSecond;
  parts.alerts.push_back(
      {"nan", "train/grad_norm", "train/grad_norm was not finite 6 times, at step 520 first", {{"step", 520}}, 6, at, at + 60 * kSecond});
  parts.alerts.push_back({"straggler",
                          "rank 7",
                          "rank 7 took 1.7 times as long as the others for 3 steps",
                          {{"rank", 7}, {"step", 938}},
                          3,
                          kNow - 400 * kSecond,
                          kNow - 25 * kSecond});
}

}  // namespace

nlohmann::json points_at(int index, int64_t step) { return points_of(sample_at(scene_of(index), step, noise_at(index, step))); }

std::string log_text_at(int index, int64_t step) { return log_text(step, sample_at(scene_of(index), step, noise_at(index, step))); }

int64_t tokens_at(int index, int64_t step) {
  const Scene& scene = scene_of(index);
  return static_cast<int64_t>(static_cast<double>(step) * scene.step_s * scene.tokens_per_s);
}

// The slow rank computes longer; the others stand in the collective until it has come.
std::vector<history::SpanRecord> spans_at(int index, const history::RunRecord& run, int64_t step) {
  const Scene& scene = scene_of(index);
  std::vector<history::SpanRecord> spans;
  const double step_ns = scene.step_s * 1e9;
  for (int rank = 0; rank < run.world_size; ++rank) {
    Noise noise = noise_at(index, step * 64 + rank);
    const bool slow = run.world_size > 1 && rank == slow_rank(scene);
    double at = static_cast<double>(run.started_unix_ns) + static_cast<double>(step - 1) * step_ns;
    for (const Phase& phase : kPhases) {
      const bool computes = std::string_view(phase.name) == "forward" || std::string_view(phase.name) == "backward";
      const double whole = phase.share * step_ns, busy = !computes || slow || run.world_size == 1 ? whole : whole * (0.72 + noise.uniform() * 0.05);
      spans.push_back({rank, step, phase.name, static_cast<int64_t>(at), static_cast<int64_t>(at + busy)});
      if (busy < whole) spans.push_back({rank, step, "ring wait", static_cast<int64_t>(at + busy), static_cast<int64_t>(at + whole)});
      at += whole;
    }
  }
  return spans;
}

RunParts parts_of(int index, const history::RunRecord& run) {
  const Scene& scene = scene_of(index);
  RunParts parts;
  if (scene.steps == 0) return parts;
  for (int64_t step = std::max<int64_t>(1, scene.steps - kSpanSteps); step <= scene.steps; ++step)
    for (history::SpanRecord& span : spans_at(index, run, step)) parts.spans.push_back(std::move(span));
  add_samples(scene, run, parts);
  add_alerts(scene, run, parts);
  const int64_t end = run.ended_unix_ns > 0 ? run.ended_unix_ns : kNow;
  for (int rank = 0; rank < run.world_size; ++rank) {
    const bool silent = run.state == RunState::stopping && rank == run.world_size - 1;
    parts.ranks[rank] = {rank,
                         scene.steps - (silent ? 2 : 0),
                         end - (silent ? 41 * kSecond : kSecond / 5),
                         (1'900ULL + static_cast<uint64_t>(rank) * 7) << 20,
                         (2'150ULL + static_cast<uint64_t>(rank) * 9) << 20,
                         static_cast<double>(scene.steps) * scene.step_s * (rank == slow_rank(scene) ? 0.98 : 0.74)};
  }
  parts.segments = {{1, 1, run.started_unix_ns}};
  if (scene.steps > 1200) {
    const int64_t resumed = 700;
    parts.segments.push_back({2, resumed, run.started_unix_ns + static_cast<int64_t>(static_cast<double>(resumed) * scene.step_s) * kSecond});
  }
  if (!run.tags.empty()) parts.notes = {{1, run.created_unix_ns + 3600 * kSecond, "operator@node-1", "Reference for the cp sweep; keep."}};
  for (int64_t step = 250; step <= scene.steps; step += 250)
    parts.checkpoints.push_back({step, "checkpoints/step_" + std::to_string(step), 88'000'000, run.started_unix_ns});
  return parts;
}

namespace {

void fill(history::RunImport& import, int index, const history::RunRecord& run) {
  for (const auto& [name, series] : metrics_of(index, run)) {
    std::vector<history::MetricPoint> points;
    for (size_t i = 0; i < series->size(); ++i) points.push_back({series->step(i), series->value(i), series->tokens(i), series->time_unix_ns(i), 0});
    import.add_points(name, 0, 1, points);
  }
  for (const history::LogLine& line : logs_of(index, run)) import.add_log(line);
  const RunParts parts = parts_of(index, run);
  for (const history::SpanRecord& span : parts.spans) import.add_span(span);
  for (const history::SampleRecord& sample : parts.samples) import.add_sample(sample);
  for (const history::AlertRecord& alert : parts.alerts) import.add_alert(alert);
  for (const history::NoteRecord& note : parts.notes) import.add_note(note);
  for (const history::CheckpointRecord& checkpoint : parts.checkpoints) import.add_checkpoint(checkpoint);
  for (const auto& [rank, status] : parts.ranks) import.add_rank_status(status);
  for (const std::string& tag : run.tags) import.add_tag(tag);
}

}  // namespace

void write_history(const std::filesystem::path& file, int runs, int details_max) {
  history::Editor editor(file, history::Editor::Missing::create);
  for (int index = 0; index < runs; ++index) {
    const history::RunRecord run = record_of(index);
    editor.import_run(run, [&](history::RunImport& import) {
      if (index < details_max) fill(import, index, run);
    });
  }
}

}  // namespace ringwright::gui::demo

#include "console/gui/data/demo_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "console/gui/data/demo_scenes.h"
#include "shared/estimate/reported.h"
#include "shared/history/edits.h"

namespace ringwright::gui::demo {
namespace {

using history::RunState;

constexpr int64_t kSecond = kSecond_ns, kNow = kNow_unix_ns;

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
  const Scene& scene = scene_of(index);
  const int round = round_of(index);
  history::RunRecord run;
  run.id = fmt::format("r_{:08x}", 0x18f30000u + static_cast<uint32_t>(index) * 2654435761u % 0xFFFFu);
  run.name = round == 0 ? scene.name : fmt::format("{}-{}", scene.name, round + 1);
  run.algorithm = scene.algorithm;
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
  run.color_index = (index + index / 10) % 10;  // so that the newest runs differ
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
  const Scene& scene = scene_of(index);
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

constexpr int64_t kSpanSteps = 12;

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

nlohmann::json points_at(int index, int64_t step) {
  nlohmann::json points = points_of(sample_at(scene_of(index), step, noise_at(index, step)));
  points.update(more_points_at(index, step));
  return points;
}

std::string log_text_at(int index, int64_t step) { return log_text(step, sample_at(scene_of(index), step, noise_at(index, step))); }

int64_t tokens_at(int index, int64_t step) {
  const Scene& scene = scene_of(index);
  return static_cast<int64_t>(static_cast<double>(step) * scene.step_s * scene.tokens_per_s);
}

RunParts parts_of(int index, const history::RunRecord& run) {
  const Scene& scene = scene_of(index);
  RunParts parts;
  if (scene.steps == 0) return parts;
  for (int64_t step = std::max<int64_t>(1, scene.steps - kSpanSteps); step <= scene.steps; ++step)
    for (history::SpanRecord& span : spans_at(index, run, step)) parts.spans.push_back(std::move(span));
  for (int64_t step = 1; step <= scene.steps; ++step)
    for (history::SampleRecord& sample : samples_at(index, run, step)) parts.samples.push_back(std::move(sample));
  parts.estimate = estimate_of(index);
  add_alerts(scene, run, parts);
  const int64_t end = run.ended_unix_ns > 0 ? run.ended_unix_ns : kNow;
  for (int rank = 0; rank < run.world_size; ++rank) {
    const bool silent = run.state == RunState::stopping && rank == run.world_size - 1;
    parts.ranks[rank] = {rank,
                         scene.steps - (silent ? 2 : 0),
                         end - (silent ? 41 * kSecond : kSecond / 5),
                         resident_bytes_at(index, rank),
                         resident_bytes_max_at(index, rank),
                         static_cast<double>(scene.steps) * scene.step_s * (rank == run.world_size - 1 ? 0.98 : 0.74)};
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
  if (parts.estimate) {
    wire::Event event{run.id, wire::Kind::event, 0, 0, 0, run.started_unix_ns, estimate::report(*parts.estimate)};
    event.body["name"] = "run.estimate";
    import.add_event(event, "run.estimate");
  }
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

#include "console/cli/run_progress.h"

#include <algorithm>
#include <cmath>

#include "shared/history/metric_value.h"

namespace ringwright::cli {
namespace {

constexpr size_t kRecentStepsMax = 20;
constexpr double kNsPerSecond = 1e9;

std::optional<double> rate(int64_t tokens, int64_t time_ns) {
  if (tokens <= 0 || time_ns <= 0) return std::nullopt;
  return static_cast<double>(tokens) / (static_cast<double>(time_ns) / kNsPerSecond);
}

std::optional<double> point(const nlohmann::json& body, const char* name) {
  const auto points = body.find("points");
  if (points == body.end() || !points->is_object() || !points->contains(name)) return std::nullopt;
  const nlohmann::json& value = points->at(name);
  return value.is_number() || value.is_string() || value.is_null() ? std::optional(history::metric_value_from_json(value)) : std::nullopt;
}

}  // namespace

void RunProgress::add(const wire::Event& event) {
  if (event.node_sequence != 0 && event.node_sequence <= node_sequence_) return;
  node_sequence_ = std::max(node_sequence_, event.node_sequence);
  if (first_time_unix_ns_ == 0) first_time_unix_ns_ = event.time_unix_ns;
  last_time_unix_ns_ = std::max(last_time_unix_ns_, event.time_unix_ns);
  if (!event.body.is_object()) return;
  try {
    if (event.kind == wire::Kind::metric && event.rank == 0) add_metric(event);
    if (event.kind == wire::Kind::event) add_named(event.body);
  } catch (const nlohmann::json::exception&) {
    return;  // stored as malformed; it says nothing about progress
  }
}

void RunProgress::add_metric(const wire::Event& event) {
  if (const auto value = point(event.body, "perf/tokens_per_s")) tokens_per_s_ = value;
  if (const auto value = point(event.body, "validation/val_loss")) validation_loss_ = value;
  const auto loss = point(event.body, "train/loss");
  if (!loss) return;
  step_ = std::max(step_, event.body.value("step", int64_t{0}));
  if (!first_loss_) first_loss_ = loss;
  last_loss_ = loss;
  const StepTime now{event.body.value("step", int64_t{0}), event.body.value("tokens", int64_t{-1}), event.time_unix_ns};
  if (!first_step_) first_step_ = now;
  recent_.push_back(now);
  if (recent_.size() > kRecentStepsMax) recent_.pop_front();
}

void RunProgress::add_named(const nlohmann::json& body) {
  const std::string name = body.value("name", "");
  if (name == "run.step_limit") step_limit_ = body.at("steps").get<int64_t>();
  if (name == "checkpoint.saved") checkpoint_ = body.at("path").get<std::string>();
  if (name != "run.state") return;
  try {
    state_ = history::run_state_from_string(body.at("state").get<std::string>());
  } catch (const Error&) {
    return;  // a state of a newer daemon
  }
  unrecorded_ = body.value("unrecorded", false);
  reason_ = body.value("reason", "");
  failed_rank_ = body.value("failed_rank", -1);
  const auto lines = body.find("last_lines");
  if (lines == body.end() || !lines->is_array()) return;
  last_lines_.clear();  // told with each state since the failure
  for (const auto& line : *lines) last_lines_.push_back(line.is_string() ? line.get<std::string>() : line.dump());
}

double RunProgress::fraction() const {
  return step_limit_ > 0 ? std::clamp(static_cast<double>(step_) / static_cast<double>(step_limit_), 0.0, 1.0) : 0.0;
}

std::optional<double> RunProgress::tokens_per_s() const {
  if (tokens_per_s_) return tokens_per_s_;
  if (recent_.size() < 2) return std::nullopt;
  return rate(recent_.back().tokens - recent_.front().tokens, recent_.back().time_unix_ns - recent_.front().time_unix_ns);
}

std::optional<double> RunProgress::mean_tokens_per_s() const {
  if (recent_.size() < 2 || first_step_->tokens < 0) return tokens_per_s_;
  return rate(recent_.back().tokens - first_step_->tokens, recent_.back().time_unix_ns - first_step_->time_unix_ns);
}

std::optional<double> RunProgress::seconds_left() const {
  if (recent_.size() < 2 || step_limit_ <= 0) return std::nullopt;
  const int64_t steps = recent_.back().step - recent_.front().step, time_ns = recent_.back().time_unix_ns - recent_.front().time_unix_ns;
  if (steps <= 0 || time_ns <= 0) return std::nullopt;
  return static_cast<double>(std::max<int64_t>(0, step_limit_ - step_)) * static_cast<double>(time_ns) / kNsPerSecond / static_cast<double>(steps);
}

double RunProgress::elapsed_s() const { return static_cast<double>(last_time_unix_ns_ - first_time_unix_ns_) / kNsPerSecond; }

std::string progress_bar(double fraction, int columns) {
  const int width = std::max(0, columns - 2);
  const int full = static_cast<int>(std::lround(std::clamp(std::isnan(fraction) ? 0.0 : fraction, 0.0, 1.0) * width));
  std::string bar(static_cast<size_t>(full), '=');
  if (full > 0 && full < width) bar.back() = '>';
  return "[" + bar + std::string(static_cast<size_t>(width - full), ' ') + "]";
}

}  // namespace ringwright::cli

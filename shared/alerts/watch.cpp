#include "shared/alerts/watch.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "shared/base/median.h"
#include "shared/base/text.h"
#include "shared/history/metric_value.h"
#include "shared/history/records.h"
#include "shared/support_matrix/running.h"

namespace ringwright::alerts {
namespace {

constexpr size_t kStepsKept = 16;             // that some rank has not gone through yet
constexpr const char* kWaitPhase = "reduce";  // in which a fast rank waits for the slow ones
constexpr size_t kStreaksMax = 100'000;
constexpr double kNsPerSecond = 1e9;

int64_t integer_in(const nlohmann::json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
}

std::string text_in(const nlohmann::json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_string() ? found->get<std::string>() : "";
}

Alert guard_alert(const std::string& code, const std::string& scope, const std::string& reason, const std::string& fix, int64_t step) {
  return {"guard", code, fmt::format("{} {}: {}", code, scope, reason), {{"code", code}, {"fix", fix}, {"step", step}}};
}

bool covers(const Rule& rule, const std::string& metric) { return ::fnmatch(rule.metric.c_str(), metric.c_str(), 0) == 0; }

}  // namespace

RunWatch::RunWatch(std::vector<Rule> rules, int world_size) : rules_(std::move(rules)), world_size_(world_size) {}

std::vector<Alert> RunWatch::note(const wire::Event& event, Clock::time_point now) {
  std::vector<Alert> found;
  if (!event.body.is_object()) return found;
  note_progress(event, now);
  if (event.kind == wire::Kind::event) note_state(event, now, found), note_guard(event, found);
  if (event.kind == wire::Kind::metric) note_points(event, found);
  if (event.kind == wire::Kind::span) note_span(event, found);
  return found;
}

void RunWatch::note_progress(const wire::Event& event, Clock::time_point now) {
  const int64_t step = integer_in(event.body, "step");
  if (step <= last_step_) return;
  last_step_ = step;
  progress_at_ = now;
}

void RunWatch::note_state(const wire::Event& event, Clock::time_point now, std::vector<Alert>& found) {
  if (text_in(event.body, "name") != "run.state") return;
  const std::string state = text_in(event.body, "state"), reason = text_in(event.body, "reason");
  running_ = state == "running";
  if (running_) progress_at_ = now;
  for (const Rule& rule : rules_) {
    if (rule.kind == Kind::finished && state == "finished")
      found.push_back({"finished", "", fmt::format("finished at step {}", std::max<int64_t>(last_step_, 0)), {{"step", last_step_}}});
    if (rule.kind == Kind::failed && (state == "failed" || state == "lost"))
      found.push_back({"failed", "", reason.empty() ? state : state + ": " + reason, {{"step", last_step_}, {"reason", reason}}});
  }
}

// What a worker has found of its own step.
void RunWatch::note_guard(const wire::Event& event, std::vector<Alert>& found) const {
  const nlohmann::json& body = event.body;
  if (text_in(body, "name") != "guard.running") return;
  if (std::none_of(rules_.begin(), rules_.end(), [](const Rule& rule) { return rule.kind == Kind::guard; })) return;
  found.push_back(
      guard_alert(text_in(body, "code"), text_in(body, "scope"), text_in(body, "reason"), text_in(body, "fix"), integer_in(body, "step")));
}

void RunWatch::note_points(const wire::Event& event, std::vector<Alert>& found) {
  const auto points = event.body.find("points");
  if (points == event.body.end() || !points->is_object()) return;
  for (const auto& [name, value] : points->items()) {
    try {
      note_point(name, history::metric_value_from_json(value), event, found);
    } catch (const nlohmann::json::exception&) {
      continue;  // the history keeps it as malformed
    }
  }
}

void RunWatch::note_point(const std::string& name, double value, const wire::Event& event, std::vector<Alert>& found) {
  const int64_t step = integer_in(event.body, "step");
  const nlohmann::json detail = {{"metric", name}, {"value", history::metric_value_to_json(value)}, {"step", step}, {"rank", event.rank}};
  for (size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    if (rule.kind == Kind::guard)
      for (const auto& each : support_matrix::check_recorded(name, step, value))
        found.push_back(guard_alert(each.code, each.scope, each.reason, each.fix, step));
    if ((rule.kind != Kind::nan && rule.kind != Kind::threshold) || !covers(rule, name)) continue;
    if (rule.kind == Kind::nan) {
      if (!std::isfinite(value)) found.push_back({"nan", name, fmt::format("{} is {} at step {}", name, text::format_value(value), step), detail});
      continue;
    }
    const bool too_high = rule.above && value > *rule.above, too_low = rule.below && value < *rule.below;
    if (beyond_.size() > kStreaksMax) beyond_.clear();
    int64_t& streak = beyond_[{i, name + " " + std::to_string(event.rank)}];
    streak = too_high || too_low ? streak + 1 : 0;
    if (streak < rule.steps || streak == 0) continue;
    const double limit = too_high ? *rule.above : *rule.below;
    Alert alert{
        "threshold", name,
        fmt::format("{} is {}, {} {}, at step {}", name, text::format_value(value), too_high ? "above" : "below", text::format_value(limit), step),
        detail};
    alert.detail[too_high ? "above" : "below"] = limit;
    found.push_back(std::move(alert));
  }
}

void RunWatch::note_span(const wire::Event& event, std::vector<Alert>& found) {
  const int64_t step = integer_in(event.body, "step"), begin_ns = integer_in(event.body, "begin_ns"), end_ns = integer_in(event.body, "end_ns");
  if (world_size_ < 2 || step < 0 || event.rank < 0 || end_ns < begin_ns || text_in(event.body, "phase") == kWaitPhase) return;
  if (std::none_of(rules_.begin(), rules_.end(), [](const Rule& rule) { return rule.kind == Kind::straggler; })) return;
  int64_t& newest = span_step_[event.rank];
  newest = std::max(newest, step);
  step_times_[step].seconds[event.rank] += static_cast<double>(end_ns - begin_ns) / kNsPerSecond;
  if (span_step_.size() < static_cast<size_t>(world_size_)) {
    if (step_times_.size() > kStepsKept) step_times_.erase(step_times_.begin());
    return;
  }
  int64_t through = INT64_MAX;  // a step is over for a rank that has come to the next
  for (const auto& [rank, at] : span_step_) through = std::min(through, at);
  while (!step_times_.empty() && (step_times_.begin()->first < through || step_times_.size() > kStepsKept)) {
    const auto oldest = step_times_.begin();
    if (oldest->second.seconds.size() == static_cast<size_t>(world_size_)) compare_ranks(oldest->first, oldest->second, found);
    step_times_.erase(oldest);
  }
}

void RunWatch::compare_ranks(int64_t step, const StepTimes& times, std::vector<Alert>& found) {
  for (const auto& [rank, seconds] : times.seconds) {
    std::vector<double> others;
    for (const auto& [other, of_other] : times.seconds)
      if (other != rank) others.push_back(of_other);
    const double usual = median(std::move(others));
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (rules_[i].kind != Kind::straggler) continue;
      int64_t& streak = slow_[{i, rank}];
      streak = seconds > rules_[i].ratio * usual ? streak + 1 : 0;
      if (streak < rules_[i].steps) continue;
      found.push_back({"straggler",
                       fmt::format("rank {}", rank),
                       fmt::format("rank {} takes {:.3g} s a step, the others {:.3g} s, for {} steps", rank, seconds, usual, streak),
                       {{"rank", rank}, {"step", step}, {"seconds", seconds}, {"others_median_seconds", usual}}});
    }
  }
}

std::vector<Alert> RunWatch::tick(Clock::time_point now) const {
  std::vector<Alert> found;
  if (!running_) return found;
  const double seconds = std::chrono::duration<double>(now - progress_at_).count();
  for (const Rule& rule : rules_)
    if (rule.kind == Kind::stall && seconds >= rule.after_s)
      found.push_back(
          {"stall",
           "",
           fmt::format("no new step for {} (last step {})", text::format_elapsed(seconds), last_step_ < 0 ? "none" : std::to_string(last_step_)),
           {{"step", last_step_}, {"seconds", seconds}}});
  return found;
}

}  // namespace ringwright::alerts

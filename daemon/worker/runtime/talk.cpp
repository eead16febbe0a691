#include "daemon/worker/runtime/talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "daemon/worker/runtime/made_up_series.h"
#include "daemon/worker/runtime/made_up_step.h"
#include "daemon/worker/runtime/talk_recording.h"
#include "shared/history/metric_value.h"

namespace ringwright::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{200};
constexpr int64_t kTokensPerStep = 1024;

// The pace, and the daemon's wishes between two steps.
class Conversation {
 public:
  Conversation(Channel& channel, double steps_per_s) : channel_(channel), steps_per_s_(steps_per_s) {}

  // Before step number `step` (from 1 on): false when the daemon asks to stop.
  bool may_go_on(int64_t step) {
    wait_until(started_ + paused_for_ + pace(step));
    keep_pause(step);
    return !channel_.stop_requested();
  }

 private:
  Clock::duration pace(int64_t step) const {
    return steps_per_s_ > 0 ? std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(static_cast<double>(step - 1) / steps_per_s_))
                            : Clock::duration::zero();
  }
  void wait_until(Clock::time_point when) {
    while (!channel_.stop_requested() && !channel_.pause_requested() && Clock::now() < when)
      channel_.wait_for_word(std::min(kLookEvery, std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now())));
  }
  void keep_pause(int64_t step) {
    if (!channel_.pause_requested() || channel_.stop_requested()) return;
    const Clock::time_point since = Clock::now();
    channel_.event("run.paused", {{"step", step - 1}});
    while (channel_.pause_requested() && !channel_.stop_requested()) channel_.wait_for_word(kLookEvery);
    channel_.event("run.resumed", {{"step", step - 1}});
    paused_for_ += Clock::now() - since;
  }

  Channel& channel_;
  double steps_per_s_;
  Clock::time_point started_ = Clock::now();
  Clock::duration paused_for_{0};
};

bool is_due(uint64_t every, int64_t step) { return every > 0 && static_cast<uint64_t>(step) % every == 0; }

void send_extras(Channel& channel, const wire::TalkPlan& plan, int rank, int64_t step) {
  if (plan.spans) {
    for (const MadeUpSpan& span : made_up_spans(rank, step, wire::now_unix_ns())) channel.span(span.phase, step, span.begin_ns, span.end_ns);
  }
  if (is_due(plan.log_every, step)) channel.log("info", fmt::format("step {} of a run that nobody trains", step));
  if (is_due(plan.sample_every, step))
    for (nlohmann::json& sample : made_up_samples(rank, step)) channel.sample(step, std::move(sample));
}

uint64_t send_made_up(Channel& channel, const wire::TalkPlan& plan, int rank) {
  const MadeUpSeries series(plan, rank);
  Conversation conversation(channel, plan.steps_per_s);
  MetricPoints values;
  uint64_t sent = 0;
  for (int64_t step = 1; sent < plan.points && conversation.may_go_on(step); ++step) {
    const uint64_t in_step = std::min(plan.names, plan.points - sent);
    for (uint64_t first = 0; first < in_step; first += values.size()) {
      values.clear();
      for (uint64_t metric = first; metric < std::min(first + kTalkPointsPerMessageMax, in_step); ++metric)
        values.emplace_back(MadeUpSeries::name(metric), series.value(metric, step));
      channel.metric(step, step * kTokensPerStep, values);
    }
    sent += in_step;
    send_extras(channel, plan, rank, step);
  }
  return sent;
}

uint64_t send_metric(Channel& channel, const nlohmann::json& body) {
  MetricPoints values;
  for (const auto& [name, value] : body.at("points").items()) values.emplace_back(name, history::metric_value_from_json(value));
  channel.metric(body.at("step").get<int64_t>(), body.at("tokens").get<int64_t>(), values);
  return values.size();
}

void send_other(Channel& channel, const wire::Event& event) {
  nlohmann::json body = event.body;
  if (event.kind == wire::Kind::log)
    channel.log(body.at("level").get<std::string>(), body.at("text").get<std::string>());
  else if (event.kind == wire::Kind::span)
    channel.span(body.at("phase").get<std::string>(), body.at("step").get<int64_t>(), body.at("begin_ns").get<int64_t>(),
                 body.at("end_ns").get<int64_t>());
  else if (event.kind == wire::Kind::sample)
    channel.sample(event.body.value("step", int64_t{0}), std::move(body));
  else
    channel.event(event.body.value("name", ""), std::move(body));
}

uint64_t send_recorded(Channel& channel, const wire::TalkPlan& plan, int rank) {
  const Recording recording = read_recording(plan, rank);
  if (recording.rows_skipped > 0) channel.log("warn", fmt::format("{} rows of kinds that are not known here are left out", recording.rows_skipped));
  Conversation conversation(channel, plan.steps_per_s);
  uint64_t sent = 0;
  int64_t metrics = 0;
  for (const wire::Event& event : recording.events) {
    if (event.kind == wire::Kind::metric && !conversation.may_go_on(++metrics)) break;
    if (event.kind == wire::Kind::metric)
      sent += send_metric(channel, event.body);
    else
      send_other(channel, event);
  }
  return sent;
}

}  // namespace

uint64_t talk(Channel& channel, const wire::TalkPlan& plan, int rank) {
  const auto start = Clock::now();
  const uint64_t sent = plan.from.empty() ? send_made_up(channel, plan, rank) : send_recorded(channel, plan, rank);
  channel.log("info", fmt::format("talked: {} points in {:.3f} s", sent, std::chrono::duration<double>(Clock::now() - start).count()));
  channel.finish();
  return sent;
}

}  // namespace ringwright::worker

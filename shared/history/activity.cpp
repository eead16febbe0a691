#include "shared/history/activity.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

namespace ringwright::history {
namespace {

constexpr std::array<std::string_view, 3> kNumbersFirst = {"reward", "length", "logprob_gap"};
constexpr std::array<std::string_view, 2> kTextsFirst = {"prompt", "reply"};

bool is_usable(const SampleRecord&) { return true; }
bool is_usable(const SpanRecord& span) { return span.end_ns >= span.begin_ns; }

template <class Record>
bool is_wanted(const Activity* activity, const Record& record) {
  return is_usable(record) && (activity == nullptr || is_of(*activity, record));
}

// The newest step up to `step`, or else the oldest.
template <class Records>
std::optional<int64_t> step_shown(const Activity* activity, const Records& records, std::optional<int64_t> step) {
  std::optional<int64_t> newest, oldest;
  for (const auto& record : records) {
    const bool is_older = !oldest || record.step < *oldest;
    const bool is_newer = (!step || record.step <= *step) && (!newest || record.step > *newest);
    if ((!is_older && !is_newer) || !is_wanted(activity, record)) continue;
    if (is_older) oldest = record.step;
    if (is_newer) newest = record.step;
  }
  return newest ? newest : oldest;
}

// Those of `first` that are there, then the others by name.
template <size_t count>
std::vector<std::string> in_order(std::set<std::string> names, const std::array<std::string_view, count>& first) {
  std::vector<std::string> ordered;
  for (const std::string_view name : first) {
    if (names.erase(std::string(name)) > 0) ordered.emplace_back(name);
  }
  ordered.insert(ordered.end(), names.begin(), names.end());
  return ordered;
}

PhaseTime summed_up(const std::string& phase, const std::map<int, int64_t>& by_rank, int64_t all_ns) {
  PhaseTime time{phase, static_cast<int>(by_rank.size()), 0, -1, 0, 0};
  int64_t total_ns = 0;
  for (const auto& [rank, took_ns] : by_rank) {
    total_ns += took_ns;
    if (took_ns > time.longest_ns) time.longest_ns = took_ns, time.longest_rank = rank;
  }
  time.mean_ns = total_ns / time.ranks;
  if (all_ns > 0) time.share = static_cast<double>(total_ns) / static_cast<double>(all_ns);
  return time;
}

}  // namespace

const Activity* activity_named(std::string_view name) {
  const auto found = std::find_if(kActivities.begin(), kActivities.end(), [&](const Activity& activity) { return activity.name == name; });
  return found == kActivities.end() ? nullptr : &*found;
}

bool is_of(const Activity& activity, const SampleRecord& sample) {
  const auto kind = sample.body.find("kind");
  if (kind != sample.body.end() && kind->is_string()) return kind->get_ref<const std::string&>() == activity.name;
  return activity.name == "rollout" && sample.body.contains("reply") && sample_number(sample, "reward").has_value();
}

bool is_of(const Activity& activity, const SpanRecord& span) {
  return std::any_of(activity.phases.begin(), activity.phases.end(),
                     [&](std::string_view beginning) { return !beginning.empty() && std::string_view(span.phase).starts_with(beginning); });
}

std::string sample_field(const SampleRecord& sample, const char* field) {
  const auto found = sample.body.find(field);
  if (found == sample.body.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<double> sample_number(const SampleRecord& sample, const char* field) {
  const auto found = sample.body.find(field);
  if (found == sample.body.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::vector<std::string> text_fields(const SampleRecord& sample) {
  std::set<std::string> names;
  for (const auto& [name, value] : sample.body.items())
    if (value.is_string() && name != "kind") names.insert(name);
  return in_order(std::move(names), kTextsFirst);
}

template <class Samples>
std::vector<size_t> samples_at(const Samples& samples, std::optional<int64_t> step, const Activity* activity) {
  std::vector<size_t> found;
  const std::optional<int64_t> shown = step_shown(activity, samples, step);
  for (size_t i = 0; shown && i < samples.size(); ++i)
    if (samples[i].step == *shown && is_wanted(activity, samples[i])) found.push_back(i);
  return found;
}

template <class Samples>
std::vector<int64_t> sample_steps(const Samples& samples, const Activity* activity) {
  std::set<int64_t> steps;
  for (const SampleRecord& sample : samples)
    if (is_wanted(activity, sample)) steps.insert(sample.step);
  return {steps.begin(), steps.end()};
}

template <class Samples>
std::vector<std::string> number_fields(const Samples& samples, const std::vector<size_t>& positions) {
  std::set<std::string> names;
  for (const size_t position : positions) {
    for (const auto& [name, value] : samples[position].body.items())
      if (value.is_number() && name != "step" && name != "rank") names.insert(name);
  }
  std::vector<std::string> ordered = in_order(std::move(names), kNumbersFirst);
  if (ordered.size() > kNumberFieldsMax) ordered.resize(kNumberFieldsMax);
  return ordered;
}

template <class Samples>
FieldRange field_range(const Samples& samples, const std::vector<size_t>& positions, const char* field) {
  FieldRange range;
  double sum = 0;
  for (const size_t position : positions) {
    const std::optional<double> value = sample_number(samples[position], field);
    if (!value || !std::isfinite(*value)) continue;
    range.minimum = range.count == 0 ? *value : std::min(range.minimum, *value);
    range.maximum = range.count == 0 ? *value : std::max(range.maximum, *value);
    sum += *value;
    ++range.count;
  }
  if (range.count > 0) range.mean = sum / static_cast<double>(range.count);
  return range;
}

template <class Spans>
std::optional<StepPhases> phases_at(const Spans& spans, std::optional<int64_t> step, const Activity* activity) {
  const std::optional<int64_t> shown = step_shown(activity, spans, step);
  if (!shown) return std::nullopt;
  std::vector<std::string> order;
  std::map<std::string, std::map<int, int64_t>> by_rank;
  int64_t all_ns = 0;
  for (const SpanRecord& span : spans) {
    if (span.step != *shown || !is_usable(span)) continue;
    all_ns += span.end_ns - span.begin_ns;
    if (!is_wanted(activity, span)) continue;
    if (!by_rank.contains(span.phase)) order.push_back(span.phase);
    by_rank[span.phase][span.rank] += span.end_ns - span.begin_ns;
  }
  StepPhases of{*shown, {}};
  for (const std::string& phase : order) of.phases.push_back(summed_up(phase, by_rank[phase], all_ns));
  return of;
}

template std::vector<size_t> samples_at(const std::vector<SampleRecord>&, std::optional<int64_t>, const Activity*);
template std::vector<size_t> samples_at(const std::deque<SampleRecord>&, std::optional<int64_t>, const Activity*);
template std::vector<int64_t> sample_steps(const std::vector<SampleRecord>&, const Activity*);
template std::vector<int64_t> sample_steps(const std::deque<SampleRecord>&, const Activity*);
template std::vector<std::string> number_fields(const std::vector<SampleRecord>&, const std::vector<size_t>&);
template std::vector<std::string> number_fields(const std::deque<SampleRecord>&, const std::vector<size_t>&);
template FieldRange field_range(const std::vector<SampleRecord>&, const std::vector<size_t>&, const char*);
template FieldRange field_range(const std::deque<SampleRecord>&, const std::vector<size_t>&, const char*);
template std::optional<StepPhases> phases_at(const std::vector<SpanRecord>&, std::optional<int64_t>, const Activity*);
template std::optional<StepPhases> phases_at(const std::deque<SpanRecord>&, std::optional<int64_t>, const Activity*);

}  // namespace ringwright::history

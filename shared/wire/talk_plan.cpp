#include "shared/wire/talk_plan.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "shared/base/error.h"
#include "shared/base/text.h"

namespace ringwright::wire {
namespace {

// One row for each field: the same table writes and reads.
template <class Plan, class Visit>
void for_each_field(Plan& plan, Visit visit) {
  visit("points", plan.points);
  visit("names", plan.names);
  visit("seed", plan.seed);
  visit("nan_every", plan.nan_every);
  visit("spike_every", plan.spike_every);
  visit("log_every", plan.log_every);
  visit("sample_every", plan.sample_every);
  visit("spans", plan.spans);
  visit("from", plan.from);
  visit("from_run", plan.from_run);
  visit("steps_per_s", plan.steps_per_s);
}

Error bad_plan(const std::string& what, const std::string& field, const std::string& action = "see shared/wire/talk_plan.h") {
  return Error({"RW-TALK-001", what, field, "a plan of what to send", action});
}

void refuse_unknown_fields(const nlohmann::json& json) {
  std::vector<std::string> names;
  TalkPlan plan;
  for_each_field(plan, [&](const char* name, auto&) { names.emplace_back(name); });
  for (const auto& [name, value] : json.items()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string nearest = text::nearest(name, names);
    throw bad_plan("a talk-only worker knows no such field", name, nearest.empty() ? "leave it out" : "the nearest is `" + nearest + "`");
  }
}

template <class Value>
bool fits(const nlohmann::json& given, const Value&) {
  if constexpr (std::is_same_v<Value, uint64_t>)
    return given.is_number_unsigned() || (given.is_number_integer() && given.get<int64_t>() >= 0);
  else if constexpr (std::is_same_v<Value, double>)
    return given.is_number();
  else if constexpr (std::is_same_v<Value, bool>)
    return given.is_boolean();
  else
    return given.is_string();
}

}  // namespace

nlohmann::json to_json(const TalkPlan& plan) {
  nlohmann::json json;
  for_each_field(plan, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

TalkPlan talk_plan_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw bad_plan("what a talk-only worker sends is no map", "talk");
  refuse_unknown_fields(json);
  TalkPlan plan;
  for_each_field(plan, [&](const char* name, auto& value) {
    const auto found = json.find(name);
    if (found == json.end()) return;
    if (!fits(*found, value)) throw bad_plan("a field of what a talk-only worker sends has the wrong type: " + found->dump(), name);
    found->get_to(value);
  });
  if (plan.names == 0) throw bad_plan("a step without a metric would never end", "names", "at least 1");
  if (!std::isfinite(plan.steps_per_s) || plan.steps_per_s < 0)
    throw bad_plan("the pace is no number from 0 on", "steps_per_s", "0 is as fast as possible");
  return plan;
}

}  // namespace ringwright::wire

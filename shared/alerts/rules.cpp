#include "shared/alerts/rules.h"

#include <algorithm>
#include <cmath>

#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/query/literals.h"

namespace ringwright::alerts {
namespace {

using nlohmann::json;

constexpr double kSecondsMax = 1e8;
constexpr int64_t kStepsMax = 1'000'000;

struct KindEntry {
  Kind kind;
  const char* name;
  std::vector<std::string> keys;  // beside `kind`
};
const std::vector<KindEntry>& kinds() {
  static const std::vector<KindEntry> entries = {
      {Kind::finished, "finished", {}},     {Kind::failed, "failed", {}},
      {Kind::nan, "nan", {"metric"}},       {Kind::threshold, "threshold", {"metric", "above", "below", "steps"}},
      {Kind::stall, "stall", {"after_s"}},  {Kind::straggler, "straggler", {"ratio", "steps"}},
      {Kind::disk, "disk", {"free_below"}}, {Kind::guard, "guard", {}}};
  return entries;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "no other key" : text;
}

Error unknown(const std::string& what, const std::string& word, const std::vector<std::string>& known, const std::string& where) {
  const std::string nearest = text::nearest(word, known);
  return Error({"RW-ALERT-001", what + " `" + word + "`", where, listed(known), nearest.empty() ? "remove it" : "write " + nearest});
}

Error wrong(const std::string& what, const std::string& where, const std::string& expected, const std::string& action = "") {
  return Error({"RW-ALERT-002", what, where, expected, action});
}

double number(const json& value, const std::string& where, double smallest, double largest) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < smallest || value.get<double>() > largest)
    throw wrong("an alert's value is no number that fits", where, smallest > 0 ? "a number above 0" : "a number");
  return value.get<double>();
}
double above_zero(const json& value, const std::string& where) { return number(value, where, 1e-9, kSecondsMax); }

double bytes_of(const json& value, const std::string& where) {
  const auto bytes = value.is_number()   ? std::optional(value.get<double>())
                     : value.is_string() ? query::read_number(value.get<std::string>())
                                         : std::nullopt;
  if (!bytes || !(*bytes > 0) || *bytes > 1e18) throw wrong("an alert's value is no amount of bytes", where, "for example 20 GiB");
  return *bytes;
}

// What each key does with its value.
struct KeyEntry {
  const char* name;
  void (*set)(Rule& rule, const json& value, const std::string& where);
};
constexpr double kAny = 1e300;
const KeyEntry kKeys[] = {
    {"metric",
     [](Rule& rule, const json& value, const std::string& where) {
       if (!value.is_string() || value.get<std::string>().empty())
         throw wrong("a metric's name is no text", where, "for example train/loss, or train/*");
       rule.metric = value.get<std::string>();
     }},
    {"above", [](Rule& rule, const json& value, const std::string& where) { rule.above = number(value, where, -kAny, kAny); }},
    {"below", [](Rule& rule, const json& value, const std::string& where) { rule.below = number(value, where, -kAny, kAny); }},
    {"steps",
     [](Rule& rule, const json& value, const std::string& where) {
       if (!value.is_number_integer() || value.get<int64_t>() < 1 || value.get<int64_t>() > kStepsMax)
         throw wrong("an alert's steps are no whole number", where, "a number from 1 on");
       rule.steps = value.get<int64_t>();
     }},
    {"after_s", [](Rule& rule, const json& value, const std::string& where) { rule.after_s = above_zero(value, where); }},
    {"ratio", [](Rule& rule, const json& value, const std::string& where) { rule.ratio = number(value, where, 1.0, 1e6); }},
    {"free_below", [](Rule& rule, const json& value, const std::string& where) { rule.free_below_bytes = bytes_of(value, where); }}};

const KindEntry& kind_of(const json& rule, const std::string& key, const Place& place) {
  if (!rule.is_object()) throw wrong("a rule for alerts is no map", place(key), "for example {kind: failed}");
  std::vector<std::string> names;
  for (const KindEntry& entry : kinds()) names.push_back(entry.name);
  const auto named = rule.find("kind");
  if (named == rule.end() || !named->is_string())
    throw wrong("a rule for alerts has no kind", place(key), listed(names), "write for example kind: failed");
  for (const KindEntry& entry : kinds())
    if (*named == entry.name) return entry;
  throw unknown("there is no alert of kind", named->get<std::string>(), names, place(key + ".kind"));
}

Rule read_rule(const json& map, const std::string& key, const Place& place) {
  const KindEntry& entry = kind_of(map, key, place);
  Rule rule;
  rule.kind = entry.kind;
  if (rule.kind == Kind::straggler) rule.steps = 10;
  for (const auto& [name, value] : map.items()) {
    if (name == "kind") continue;
    if (std::find(entry.keys.begin(), entry.keys.end(), name) == entry.keys.end())
      throw unknown(std::string("an alert of kind ") + entry.name + " has no", name, entry.keys, place(key + "." + name));
    for (const KeyEntry& known : kKeys)
      if (name == known.name) known.set(rule, value, place(key + "." + name));
  }
  if (rule.kind == Kind::threshold && !map.contains("metric"))
    throw wrong("an alert of kind threshold needs a metric", place(key), "metric: train/grad_norm");
  if (rule.kind == Kind::threshold && !rule.above && !rule.below)
    throw wrong("an alert of kind threshold has no threshold", place(key), "above: NUMBER, below: NUMBER, or both");
  return rule;
}

std::vector<std::string> read_command(const json& value, const std::string& where) {
  if (value.is_string() && !value.get<std::string>().empty()) return {"/bin/sh", "-c", value.get<std::string>()};
  std::vector<std::string> words;
  if (value.is_array())
    for (const json& word : value)
      if (word.is_string()) words.push_back(word.get<std::string>());
  if (words.empty() || words.size() != value.size() || words.front().empty())
    throw wrong("the command for alerts is none", where, "a text for the shell, or a list of texts: program and arguments");
  return words;
}

}  // namespace

std::string to_string(Kind kind) { return kinds()[static_cast<size_t>(kind)].name; }

const std::vector<Rule>& default_rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (const Kind kind : {Kind::failed, Kind::nan, Kind::stall, Kind::disk, Kind::guard}) all.emplace_back().kind = kind;
    return all;
  }();
  return rules;
}

std::vector<Rule> read_rules(const json& list, const std::string& key, const Place& place) {
  if (!list.is_array()) throw wrong("the rules for alerts are no list", place(key), "a list of rules, such as: - {kind: failed}");
  std::vector<Rule> rules;
  for (size_t i = 0; i < list.size(); ++i) rules.push_back(read_rule(list[i], key + "[" + std::to_string(i) + "]", place));
  return rules;
}

Settings read_settings(const json& map, const Place& place) {
  if (!map.is_object()) throw wrong("`alerts` is no map", place("alerts"), "command, command_time_limit_s, repeat_after_s, rules");
  Settings settings;
  for (const auto& [name, value] : map.items()) {
    const std::string key = "alerts." + name;
    if (name == "command")
      settings.command = read_command(value, place(key));
    else if (name == "command_time_limit_s")
      settings.command_time_limit_s = above_zero(value, place(key));
    else if (name == "repeat_after_s")
      settings.repeat_after_s = above_zero(value, place(key));
    else if (name == "rules")
      settings.rules = read_rules(value, key, place);
    else
      throw unknown("`alerts` has no key", name, {"command", "command_time_limit_s", "repeat_after_s", "rules"}, place(key));
  }
  return settings;
}

}  // namespace ringwright::alerts

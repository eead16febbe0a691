#include "shared/recipe/typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/recipe/key_table.h"
#include "shared/recipe/node.h"

namespace ringwright::recipe {
namespace {

// A value as a message names it. Integers beyond 64 bits come as {"$int": digits}, and JSON's own text has no NaN.
std::string shown(const nlohmann::json& value) {
  constexpr size_t kShownMax = 60;
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (value.is_string()) text = fmt::format("'{}'", value.get<std::string>());
  if (value.is_object() && value.size() == 1 && value.contains("$int")) text = value.at("$int").get<std::string>();
  if (value.is_number_float() && !std::isfinite(value.get<double>())) text = text::format_value(value.get<double>());
  return text::excerpt(text, kShownMax);
}

}  // namespace

Typed::Typed(const nlohmann::json& resolved, std::function<std::string(const std::string& key)> place)
    : resolved_(resolved), place_(std::move(place)) {}

const nlohmann::json* Typed::find(const std::string& key) const {
  const nlohmann::json* node = &resolved_;
  for (const std::string& segment : segments_of_key(key)) {
    if (node->is_array() && !segment.empty() && std::all_of(segment.begin(), segment.end(), [](unsigned char c) { return std::isdigit(c); })) {
      const size_t index = std::stoul(segment);
      if (index >= node->size()) return nullptr;
      node = &(*node)[index];
    } else {
      if (!node->is_object()) return nullptr;
      const auto found = node->find(segment);
      if (found == node->end()) return nullptr;
      node = &*found;
    }
  }
  return node->is_null() ? nullptr : node;
}

int64_t Typed::integer(const std::string& key, int64_t fallback, int64_t smallest, int64_t largest) const {
  const nlohmann::json* value = find(key);
  if (!value) return fallback;
  const std::string expected =
      largest == INT64_MAX ? fmt::format("a whole number from {} on", smallest) : fmt::format("a whole number from {} to {}", smallest, largest);
  if (value->is_number_float() && value->get<double>() == std::floor(value->get<double>()) && std::abs(value->get<double>()) < 9e15) {
    const auto whole = static_cast<int64_t>(value->get<double>());  // ${div:8, 2} gives 4.0
    if (whole >= smallest && whole <= largest) return whole;
    out_of_range(key, expected);
  }
  if (value->is_object() && value->contains("$int")) out_of_range(key, expected);
  if (!value->is_number_integer()) wrong_kind(key, expected);
  const auto whole = value->get<int64_t>();
  if (whole < smallest || whole > largest) out_of_range(key, expected);
  return whole;
}

double Typed::number(const std::string& key, double fallback, double smallest, double largest) const {
  const nlohmann::json* value = find(key);
  if (!value) return fallback;
  const std::string expected = fmt::format("a number from {} to {}", smallest, largest);
  if (!value->is_number()) wrong_kind(key, expected);
  const auto number = value->get<double>();
  if (!(number >= smallest && number <= largest)) out_of_range(key, expected);
  return number;
}

bool Typed::boolean(const std::string& key, bool fallback) const {
  const nlohmann::json* value = find(key);
  if (!value) return fallback;
  if (!value->is_boolean()) wrong_kind(key, "true or false");
  return value->get<bool>();
}

std::string Typed::text(const std::string& key, const std::string& fallback) const {
  const nlohmann::json* value = find(key);
  if (!value) return fallback;
  if (!value->is_string()) wrong_kind(key, "text");
  if (*value == "???") missing(key, "text");
  return value->get<std::string>();
}

std::string Typed::required_text(const std::string& key) const {
  const std::string value = text(key, "");
  if (value.empty()) missing(key, "text");
  return value;
}

int64_t Typed::required_integer(const std::string& key, int64_t smallest, int64_t largest) const {
  if (!has(key)) missing(key, "a whole number");
  return integer(key, 0, smallest, largest);
}

std::string Typed::choice(const std::string& key, const std::string& fallback, const std::vector<std::string>& words,
                          const std::vector<std::string>& not_offered) const {
  const std::string value = text(key, fallback);
  const auto holds = [&](const std::vector<std::string>& list) { return std::find(list.begin(), list.end(), value) != list.end(); };
  if (value == fallback || holds(words) || holds(not_offered)) return value;
  std::string expected = fallback;  // "": that the key is absent
  for (const std::string& word : words)
    if (word != fallback) expected += (expected.empty() ? "" : ", ") + word;
  out_of_range(key, "one of " + expected);
}

bool Typed::is_true(const std::string& key) const {
  const nlohmann::json* value = find(key);
  return value && value->is_boolean() && value->get<bool>();
}

double Typed::number_or(const std::string& key, double fallback) const {
  const nlohmann::json* value = find(key);
  return value && value->is_number() ? value->get<double>() : fallback;
}

std::string Typed::text_or(const std::string& key, const std::string& fallback) const {
  const nlohmann::json* value = find(key);
  return value && value->is_string() ? value->get<std::string>() : fallback;
}

void Typed::missing(const std::string& key, const std::string& expected) const {
  const auto names_below = [&](const std::string& section) {
    std::vector<std::string> names;
    if (const nlohmann::json* node = section.empty() ? &resolved_ : find(section); node && node->is_object())
      for (const auto& [name, value] : node->items()) names.push_back(name);
    return names;
  };
  if (const auto other = find_misspelt(key, names_below))
    throw Error({"RW-RECIPE-020", fmt::format("the recipe says nothing for {}, but has {}, a key that is not known", key, other->key),
                 where(other->key), expected, fmt::format("write {} instead of {}", other->meant, other->written), ExitCode::usage});
  throw Error({"RW-RECIPE-020", "the recipe says nothing for " + key, where(key), expected, "add " + key + ", in the file or as +" + key + "=...",
               ExitCode::usage});
}

void Typed::wrong_kind(const std::string& key, const std::string& expected) const {
  const nlohmann::json* value = find(key);
  throw Error({"RW-RECIPE-021", key + " is " + (value ? shown(*value) : "null"), where(key), expected, "correct the value", ExitCode::usage});
}

void Typed::out_of_range(const std::string& key, const std::string& expected) const {
  const nlohmann::json* value = find(key);
  throw Error({"RW-RECIPE-022", key + " is " + (value ? shown(*value) : "null"), where(key), expected, "correct the value", ExitCode::usage});
}

std::string Typed::where(const std::string& key) const { return place_ ? place_(key) : key; }

std::string place_of(const Recipe& recipe, const std::string& key) {
  const auto origin = recipe.origins.lower_bound(key);
  const bool inside = origin != recipe.origins.end() && (origin->first == key || origin->first.starts_with(key + "."));
  return inside ? key + " (" + describe(origin->second) + ")" : key + " (" + recipe.file.string() + ")";
}

}  // namespace ringwright::recipe

#include "shared/support_matrix/condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ringwright::support_matrix {
namespace {

using Parts = std::vector<Condition>;

std::string joined(const Parts& parts, const char* word) {
  std::vector<std::string> texts;
  for (const Condition& part : parts) texts.push_back(part.text);
  return fmt::format("{}", fmt::join(texts, word));
}

}  // namespace

Condition on(std::string_view key) {
  return {fmt::format("{} is true", key), [key = std::string(key)](const Facts& facts) { return facts.on(key); }};
}

Condition given(std::string_view key) {
  return {fmt::format("{} is given", key), [key = std::string(key)](const Facts& facts) { return facts.given(key); }};
}

Condition is(std::string_view key, std::string_view value) {
  return {fmt::format("{} is {}", key, value),
          [key = std::string(key), value = std::string(value)](const Facts& facts) { return facts.text(key) == value; }};
}

Condition is_other_than(std::string_view key, std::string_view value) {
  return {fmt::format("{} is other than {}", key, value),
          [key = std::string(key), value = std::string(value)](const Facts& facts) { return facts.given(key) && facts.text(key) != value; }};
}

Condition above(std::string_view key, double limit) {
  return {fmt::format("{} is above {}", key, limit),
          [key = std::string(key), limit](const Facts& facts) { return facts.number(key, limit) > limit; }};
}

Condition all_of(Parts parts) {
  std::string text = joined(parts, " and ");
  return {std::move(text), [parts = std::move(parts)](const Facts& facts) {
            return std::all_of(parts.begin(), parts.end(), [&](const Condition& part) { return part.holds(facts); });
          }};
}

Condition any_of(Parts parts) {
  std::string text = joined(parts, " or ");
  return {std::move(text), [parts = std::move(parts)](const Facts& facts) {
            return std::any_of(parts.begin(), parts.end(), [&](const Condition& part) { return part.holds(facts); });
          }};
}

Condition none_of(Parts parts) {
  std::string text = "neither of: " + joined(parts, "; ");
  return {std::move(text), [parts = std::move(parts)](const Facts& facts) {
            return std::none_of(parts.begin(), parts.end(), [&](const Condition& part) { return part.holds(facts); });
          }};
}

}  // namespace ringwright::support_matrix

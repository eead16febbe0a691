// When a row speaks: a test over the facts together with the words that the documentation prints for it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {

struct Condition {
  std::string text;
  std::function<bool(const Facts&)> holds;
};

// Of one key of the recipe, dotted.
Condition on(std::string_view key);                                     // is true
Condition given(std::string_view key);                                  // is there, and is neither null nor empty
Condition is(std::string_view key, std::string_view value);             // is that text
Condition is_other_than(std::string_view key, std::string_view value);  // is there, and is not that text
Condition above(std::string_view key, double limit);                    // is a number above it
Condition all_of(std::vector<Condition> parts);
Condition any_of(std::vector<Condition> parts);
Condition none_of(std::vector<Condition> parts);

}  // namespace ringwright::support_matrix

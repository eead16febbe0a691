#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ringwright {

// Of at least one value; of an even number of them the larger of the two in the middle.
template <class Number>
Number median(std::vector<Number> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace ringwright

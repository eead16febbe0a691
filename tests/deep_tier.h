// Tests that exist in two sizes: one for every run, one for `./bootstrap test --deep`.
#pragma once

#include <cstdlib>
#include <vector>

namespace ringwright::test {

inline bool deep_tier() { return std::getenv("RINGWRIGHT_DEEP_TIER") != nullptr; }

// The size to use now.
template <class Size>
Size by_tier(Size usual, Size deep) {
  return deep_tier() ? deep : usual;
}

// Of a grid's `sizes` all in the deep tier, in the usual one the one whose turn it is.
template <class Size>
std::vector<Size> all_or_one(const std::vector<Size>& sizes, size_t turn) {
  return by_tier<std::vector<Size>>({sizes[turn % sizes.size()]}, sizes);
}

}  // namespace ringwright::test

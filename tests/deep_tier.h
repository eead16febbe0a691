// Tests that exist in two sizes: one for every run, one for `./bootstrap test --deep`.
#pragma once

#include <cstdlib>

namespace ringwright::test {

inline bool deep_tier() { return std::getenv("RINGWRIGHT_DEEP_TIER") != nullptr; }

// The size to use now.
template <class Size>
Size by_tier(Size usual, Size deep) {
  return deep_tier() ? deep : usual;
}

}  // namespace ringwright::test

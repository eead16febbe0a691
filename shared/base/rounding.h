// Sizes that are multiples of something.
#pragma once

#include <cstdint>

namespace ringwright {

// The smallest multiple of `multiple` (1 or more) that is `value` (0 or more) or above. Both together stay below 2^63.
constexpr int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace ringwright

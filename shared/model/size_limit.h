#pragma once

#include <cstdint>

namespace ringwright::model {

inline constexpr int64_t kSizeMax = int64_t{1} << 31;  // of any one number of a config.json

}  // namespace ringwright::model

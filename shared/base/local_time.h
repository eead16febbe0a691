#pragma once

#include <cstdint>
#include <string>

namespace ringwright::text {

// "2026-11-30 14:05:01".
std::string format_local_time(int64_t unix_ns);

}  // namespace ringwright::text

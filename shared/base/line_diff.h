// Two texts, line by line.
#pragma once

#include <string>
#include <string_view>

namespace ringwright::text {

// Unified form with three lines around each change, as `diff -u` prints it and `patch` reads it; "" when the texts are the same.
std::string unified_diff(std::string_view before, std::string_view after, const std::string& name_before, const std::string& name_after);

}  // namespace ringwright::text

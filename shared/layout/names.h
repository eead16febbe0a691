// The names of layouts and of attention methods, as recipes, tables and messages write them: each stands here and nowhere else.
#pragma once

#include <string_view>

namespace ringwright::layout::names {

// Layouts. All but `none` are flavours: ways to spread a training batch (ringwright.cp.flavour).
inline constexpr std::string_view kNone = "none";
inline constexpr std::string_view kRoundRobin = "round_robin";
inline constexpr std::string_view kContiguous = "contiguous";
inline constexpr std::string_view kThd = "thd";
inline constexpr std::string_view kBalanced = "balanced";
inline constexpr std::string_view kDeepseekV4 = "deepseek_v4";
inline constexpr std::string_view kGlm = "glm";
inline constexpr std::string_view kGemma4 = "gemma4";

// Attention methods (ringwright.cp.method).
inline constexpr std::string_view kRing = "ring";
inline constexpr std::string_view kRanged = "ranged";
inline constexpr std::string_view kAllGather = "all_gather";
inline constexpr std::string_view kAllToAll = "all_to_all";
inline constexpr std::string_view kAllToAllRing = "all_to_all+ring";
inline constexpr std::string_view kAutomatic = "auto";  // the cheapest of them

}  // namespace ringwright::layout::names

#include "shared/layout/methods.h"

#include <algorithm>

namespace ringwright::layout {

const std::vector<MethodEntry>& methods() {
  static const std::vector<MethodEntry> entries = {
      {names::kRing, "keys and values go round the group, the next block in flight while one is computed", nullptr},
      {names::kRanged, "every rank gets the keys and values that its mask reads, straight from their owners", nullptr},
      {names::kAllGather, "every rank collects all keys and values", nullptr},
      {names::kAllToAll, "every rank attends over the whole sequence with its share of the heads", head_split_refusal},
      {names::kAllToAllRing, "neighbouring ranks exchange heads, and a ring goes through those who then have the same ones", head_grid_refusal},
  };
  return entries;
}

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> known = [] {
    std::vector<std::string> result;
    for (const MethodEntry& entry : methods()) result.emplace_back(entry.name);
    return result;
  }();
  return known;
}

std::string method_head_refusal(std::string_view name, const HeadCounts& heads, int cp) {
  const auto found = std::find_if(methods().begin(), methods().end(), [&](const MethodEntry& entry) { return entry.name == name; });
  return cp == 1 || found == methods().end() || found->head_refusal == nullptr ? "" : found->head_refusal(heads, cp);
}

const std::vector<Rotation>& rotations() {
  static const std::vector<Rotation> entries = {{"allgather", names::kAllGather}, {"alltoall", names::kRing}};
  return entries;
}

std::vector<std::string> rotation_names() {
  std::vector<std::string> result;
  for (const Rotation& rotation : rotations()) result.emplace_back(rotation.name);
  return result;
}

std::string_view method_of_rotation(std::string_view name) {
  const auto found = std::find_if(rotations().begin(), rotations().end(), [&](const Rotation& rotation) { return rotation.name == name; });
  return found == rotations().end() ? std::string_view() : found->method;
}

}  // namespace ringwright::layout

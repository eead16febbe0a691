// Runs put together by what they were started with: one colour, one band and one mean for all that have the same value of a key.
#pragma once

#include <string>
#include <vector>

#include "console/gui/data/state.h"

namespace ringwright::gui {

struct RunGroup {
  std::string value;         // as the Diff view shows it; "-" for runs without the key
  std::vector<size_t> runs;  // positions among those that were asked about
};
// Groups in the order of their values, numbers by size, runs without the key last. `key`: "recipe.policy.model_name", "mesh.cp", "fingerprint.node";
// one that is none of these gives one group.
std::vector<RunGroup> group_runs(const std::vector<const Run*>& runs, const std::string& key);

// Keys in whose values the runs differ, the recipe's first; without fingerprints. At most `limit`.
std::vector<std::string> differing_keys(const std::vector<const Run*>& runs, size_t limit);

}  // namespace ringwright::gui

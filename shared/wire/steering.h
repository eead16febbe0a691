// What a running run can be asked to change, and within which bounds: one table for the command line, the daemon and the worker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringwright::wire {

struct SettableKey {
  std::string_view name;        // "optimizer.lr"
  std::string_view recipe_key;  // where the recipe has it; a user may write this too
  double least;                 // the smallest value
  bool above_least;             // whether the value must be larger than it
  bool whole;                   // a whole number of steps
  bool needs_checkpoints;       // has an effect only where the recipe saves checkpoints
  std::string_view what;
};

// Safe to change between two steps: no tensor changes its shape, no row of data its place.
const std::vector<SettableKey>& settable_keys();

struct Setting {
  size_t key = 0;  // in settable_keys()
  double value = 0;
};
// From "optimizer.lr=2e-4". Throws Error RW-STEER-001 (exit code 2): no such key (with the nearest), RW-STEER-002 (exit code 2): no number, or one
// out of bounds.
Setting parse_setting(std::string_view text);
Setting make_setting(std::string_view key, double value);
std::string describe(const Setting& setting);  // "optimizer.lr=0.0002"

}  // namespace ringwright::wire

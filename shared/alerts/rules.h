// What is worth an alert, as daemon.yaml and recipes say it:
//
//   alerts:                                   # daemon.yaml; a recipe has the list below ringwright.alerts, and it comes on top
//     command: notify-me --mail               # run by the shell, or a list of words, run as they are; JSON on standard input
//     command_time_limit_s: 10
//     repeat_after_s: 3600                    # the command hears of the same trouble again only after so long
//     rules:                                  # in place of kDefaultRules
//       - {kind: failed}
//       - {kind: threshold, metric: train/grad_norm, above: 100, steps: 3}
//       - {kind: disk, free_below: 20 GiB}
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ringwright::alerts {

enum class Kind { finished, failed, nan, threshold, stall, straggler, disk, guard };
std::string to_string(Kind kind);

struct Rule {
  Kind kind = Kind::failed;
  std::string metric = "*";            // nan, threshold: a name, in which * stands for anything
  std::optional<double> above, below;  // threshold
  int64_t steps = 1;                   // threshold, straggler: so many in a row
  double after_s = 1800;               // stall: without a new step
  double ratio = 1.5;                  // straggler: of its time for a step to the median of the others
  double free_below_bytes = 1 << 30;   // disk
};

// failed, nan, stall, disk, guard with the values above. guard: what the support matrix finds in a run that goes on (its rows of level 3).
const std::vector<Rule>& default_rules();

struct Settings {
  std::vector<std::string> command;  // empty: none
  double command_time_limit_s = 10;
  double repeat_after_s = 3600;
  std::vector<Rule> rules = default_rules();
};

// `place` says where a key stands ("alerts.rules[2].above"), for errors. Throws Error RW-ALERT-001 (exit code 2): an unknown key or kind, with the
// nearest one; RW-ALERT-002: a value that does not fit, or one that is missing.
using Place = std::function<std::string(const std::string& key)>;
Settings read_settings(const nlohmann::json& map, const Place& place);
std::vector<Rule> read_rules(const nlohmann::json& list, const std::string& key, const Place& place);

}  // namespace ringwright::alerts

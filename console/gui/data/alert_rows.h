// What needs the operator: the alerts of all runs, and runs that were lost without one.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "console/gui/data/state.h"

namespace ringwright::gui {

enum class Severity { news, warning, failure };

struct AlertRow {
  std::shared_ptr<Run> run;
  history::AlertRecord alert;
  Severity severity = Severity::news;
  bool acknowledged = false;

  // The run, kind and topic: the same alert again has the same key.
  std::string key() const;
  // The step and the rank that it speaks of, where it says them.
  std::optional<int64_t> step() const;
  int rank() const;  // -1: of none
};

// Those that are not acknowledged first, then by severity, then the newest. `acknowledged`: by key, the time of the newest occurrence that was
// acknowledged; trouble that came again since is open again. News ("finished") need nobody and count as acknowledged.
std::vector<AlertRow> alert_rows(const State& state, const nlohmann::json& acknowledged);

}  // namespace ringwright::gui

// What the support matrix' rows of level 3 find in the metrics that a run has recorded, also in one that was imported.
#pragma once

#include <string>
#include <vector>

#include "shared/history/store.h"
#include "shared/support_matrix/running.h"

namespace ringwright::cli {

// At the worst step of each metric.
std::vector<support_matrix::RunningFinding> run_guards(const history::Reader& reader, const std::string& run);
// "RW-GUARD-502 generation and training: ...; to fix: ...".
std::string guard_text(const support_matrix::RunningFinding& finding);
nlohmann::json guards_json(const std::vector<support_matrix::RunningFinding>& findings);

}  // namespace ringwright::cli

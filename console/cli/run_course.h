// What became of a run, as lines beside those that its ranks logged.
#pragma once

#include <string>
#include <vector>

#include "shared/history/store.h"

namespace ringwright::cli {

// States, checkpoints and alerts of the run that are not among its log lines, oldest first; those with a node sequence number above `after` alone.
std::vector<history::LogLine> run_course(const history::Reader& reader, const std::string& run, uint64_t after);

}  // namespace ringwright::cli

// A run that was recorded, as one of its ranks sent it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shared/wire/message.h"
#include "shared/wire/talk_plan.h"

namespace ringwright::worker {

struct Recording {
  std::vector<wire::Event> events;  // of one rank, in the order of their times: metrics of one step in one event, logs, spans, samples, named events
  int rank_count = 1;               // that the run had
  size_t rows_skipped = 0;          // of an export: rows of a kind that this program does not know
};

// Rank `rank` of a talk sends what rank `rank % rank_count` of the run has sent. What the daemon said of the run is left out, since a daemon says it
// anew. Throws Error RW-TALK-002 (exit code 2) for a file that is neither a history nor an export in JSON lines, with the line, and the store's
// errors.
Recording read_recording(const wire::TalkPlan& plan, int rank);

}  // namespace ringwright::worker

// What the history has of a run, row by row: all ways out go through here.
#pragma once

#include <functional>
#include <string>

#include "shared/exchange/rows.h"
#include "shared/history/store.h"

namespace ringwright::exchange {

// Calls `visit` with each metric and rank that the run has.
void for_each_series(const history::Reader& reader, const std::string& run, const std::function<void(const std::string& metric, int rank)>& visit);
// All log lines in order, read page by page.
void for_each_log(const history::Reader& reader, const std::string& run, const std::function<void(const history::LogLine&)>& visit);
// The parts of the run's fingerprint, each with where it came from.
void for_each_fingerprint(const history::RunRecord& run, const TakeRow& take);

// What comes before the points (counters and segments), and what comes after them (logs, events, samples, spans, checkpoints, ranks, notes, alerts),
// each kind in the order in which it came to be.
void for_each_row_before_points(const history::Reader& reader, const history::RunRecord& run, const TakeRow& take);
void for_each_row_after_points(const history::Reader& reader, const history::RunRecord& run, const TakeRow& take);

}  // namespace ringwright::exchange

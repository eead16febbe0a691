// A run as text: its metrics as CSV, all of it as JSON or JSON lines. NaN and infinities are texts in both.
#pragma once

#include <functional>
#include <string>

#include "shared/history/store.h"

namespace ringwright::exchange {

using Write = std::function<void(const std::string&)>;

// Columns metric,rank,step,value,tokens,time_unix_ns.
void export_csv(const history::Reader& reader, const history::RunRecord& run, const Write& write);
// One object a line, told apart by "type": run, metric, checkpoint, log, sample, span.
void export_jsonl(const history::Reader& reader, const history::RunRecord& run, const Write& write);
// One document: {export_version, run, metrics, checkpoints, logs, samples, spans}.
void export_json(const history::Reader& reader, const history::RunRecord& run, const Write& write);

// A field of a CSV line, in quotes where it needs them (RFC 4180).
std::string csv_field(const std::string& text);
// A number of a CSV line: shortest digits that give it back, "NaN", "Infinity", "-Infinity".
std::string csv_number(double value);

// Calls `visit` with each metric and rank that the run has.
void for_each_series(const history::Reader& reader, const std::string& run, const std::function<void(const std::string& metric, int rank)>& visit);
// All log lines in order, read page by page.
void for_each_log(const history::Reader& reader, const std::string& run, const std::function<void(const history::LogLine&)>& visit);

}  // namespace ringwright::exchange

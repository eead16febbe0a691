// A run as text: its metrics as CSV, all of it as JSON or JSON lines. NaN and infinities are texts in both.
#pragma once

#include <functional>
#include <string>

#include "shared/history/store.h"

namespace ringwright::exchange {

using Write = std::function<void(const std::string&)>;

// Columns metric,rank,step,value,tokens,time_unix_ns.
void export_csv(const history::Reader& reader, const history::RunRecord& run, const Write& write);
// What both of these hold: the run, and each kind of row that the history has of it; of its points those of the curve, without the ones that a resume
// trained anew. read_text_export (text_import.h) takes both.
inline constexpr int kExportVersion = 2;  // 1 had metrics, checkpoints and logs only, and no end
// One object a line, told apart by "type": run first, then counters, segment, metric (a line for each point), log, event, sample, span, checkpoint,
// rank, note and alert, and at the end "end" with the number of lines before it.
void export_jsonl(const history::Reader& reader, const history::RunRecord& run, const Write& write);
// One document: {export_version, run, counters, segments, metrics: [{metric, rank, points}], logs, events, ...}.
void export_json(const history::Reader& reader, const history::RunRecord& run, const Write& write);

// A field of a CSV line, in quotes where it needs them (RFC 4180).
std::string csv_field(const std::string& text);
// A number of a CSV line: shortest digits that give it back, "NaN", "Infinity", "-Infinity".
std::string csv_number(double value);

}  // namespace ringwright::exchange

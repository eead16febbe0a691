// What a run consists of beside its own row, in the order in which it comes from an archive or from event files.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "shared/history/records.h"
#include "shared/wire/message.h"

namespace ringwright::exchange {

struct SeriesPoints {
  std::string metric;
  int rank = 0;
  int64_t segment = 1;
  std::vector<history::MetricPoint> points;
};

struct FingerprintRow {
  int64_t segment = 1;
  std::string source;
  nlohmann::json content;
};

using Row =
    std::variant<SeriesPoints, history::SegmentRecord, FingerprintRow, history::LogLine, wire::Event, history::SampleRecord, history::SpanRecord,
                 history::CheckpointRecord, history::RankStatus, history::NoteRecord, history::AlertRecord, history::RunCounters>;
using TakeRow = std::function<void(Row&&)>;

}  // namespace ringwright::exchange

// The history's rows as JSON: what the CLI prints, and what exports and archives hold.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "shared/history/records.h"
#include "shared/wire/message.h"

namespace ringwright::exchange {

// Everything about a run but its recipe and fingerprint.
nlohmann::json to_json(const history::RunRecord& run);
// All of it.
nlohmann::json to_whole_json(const history::RunRecord& run);
nlohmann::json to_json(const history::MetricPoint& point);
nlohmann::json to_json(const history::LogLine& line);
nlohmann::json to_json(const history::SpanRecord& span);
nlohmann::json to_json(const history::CheckpointRecord& checkpoint);
nlohmann::json to_json(const history::RankStatus& status);
nlohmann::json to_json(const history::SampleRecord& sample);
nlohmann::json to_json(const history::SegmentRecord& segment);
nlohmann::json to_json(const history::NoteRecord& note);
nlohmann::json to_json(const history::AlertRecord& alert);
nlohmann::json to_json(const history::RunCounters& counters);
nlohmann::json to_json(const wire::Event& event);

// JSON on one line, with a line end, whatever bytes are in its texts.
std::string dump_line(const nlohmann::json& json);
// The same over several lines, for one document.
std::string dump_document(const nlohmann::json& json);
std::string dump_ordered_document(const nlohmann::ordered_json& json);

}  // namespace ringwright::exchange

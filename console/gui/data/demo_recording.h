// The made-up runs of a demonstration: the same on every machine and at each start.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "console/gui/data/state.h"

namespace ringwright::gui::demo {

inline constexpr int64_t kSecond_ns = 1'000'000'000;
inline constexpr int64_t kNow_unix_ns = 1'772'452'800 * kSecond_ns;  // 2026-03-02 12:00:00 UTC

history::RunRecord record_of(int index);
std::map<std::string, std::shared_ptr<Series>> metrics_of(int index, const history::RunRecord& run);
// The last value of each of them.
std::map<std::string, history::MetricPoint> latest_of(int index, const history::RunRecord& run);
std::vector<history::LogLine> logs_of(int index, const history::RunRecord& run);
RunParts parts_of(int index, const history::RunRecord& run);

// What a run that goes on does in `step`: its points, a line of its log, and what each rank spent its time on.
nlohmann::json points_at(int index, int64_t step);
std::string log_text_at(int index, int64_t step);
int64_t tokens_at(int index, int64_t step);
std::vector<history::SpanRecord> spans_at(int index, const history::RunRecord& run, int64_t step);
// Of validation, rollouts, or a teacher and the alignment with its tokens, by the run's algorithm; none in most steps.
std::vector<history::SampleRecord> samples_at(int index, const history::RunRecord& run, int64_t step);
// What the run's algorithm has beside what every one has.
nlohmann::json more_points_at(int index, int64_t step);
// Of the memory of each rank, and what it takes.
estimate::Estimate estimate_of(int index);
uint64_t resident_bytes_at(int index, int rank);
uint64_t resident_bytes_max_at(int index, int rank);

// The node's devices at that time: the first is at its power limit, the last lost memory cells.
wire::DeviceReport devices_at(int64_t now_unix_ns);

// A history file with the first `runs` runs; `details_max` of them with metrics, logs and all else.
void write_history(const std::filesystem::path& file, int runs, int details_max);

}  // namespace ringwright::gui::demo

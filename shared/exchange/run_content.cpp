#include "shared/exchange/run_content.h"

#include <algorithm>

namespace ringwright::exchange {
namespace {

using nlohmann::json;

constexpr size_t kLogsPage = 10'000;
constexpr size_t kAllRows = SIZE_MAX;

template <class Records>
void take_all(const TakeRow& take, Records records) {
  for (auto& record : records) take(Row(std::move(record)));
}
template <class Records>
void take_all_reversed(const TakeRow& take, Records records) {
  std::reverse(records.begin(), records.end());
  take_all(take, std::move(records));
}

}  // namespace

void for_each_series(const history::Reader& reader, const std::string& run, const std::function<void(const std::string&, int)>& visit) {
  for (const std::string& name : reader.metric_names(run))
    for (const int rank : reader.metric_ranks(run, name)) visit(name, rank);
}

void for_each_log(const history::Reader& reader, const std::string& run, const std::function<void(const history::LogLine&)>& visit) {
  for (uint64_t after = 0;;) {
    const std::vector<history::LogLine> lines = reader.logs(run, after, kLogsPage, false);
    for (const history::LogLine& line : lines) visit(line);
    if (lines.size() < kLogsPage) return;
    after = lines.back().node_sequence;
  }
}

void for_each_fingerprint(const history::RunRecord& run, const TakeRow& take) {
  json own = run.fingerprint.is_object() ? run.fingerprint : json::object();
  const json workers = own.value("workers", json::object());
  own.erase("workers");
  if (!own.empty()) take(FingerprintRow{run.segment, "daemon", own});
  for (const auto& [source, content] : workers.items()) take(FingerprintRow{run.segment, source, content});
}

void for_each_row_before_points(const history::Reader& reader, const history::RunRecord& run, const TakeRow& take) {
  take(reader.counters(run.id));
  take_all(take, reader.segments(run.id));
}

void for_each_row_after_points(const history::Reader& reader, const history::RunRecord& run, const TakeRow& take) {
  for_each_log(reader, run.id, [&](const history::LogLine& line) { take(Row(line)); });
  take_all_reversed(take, reader.run_events(run.id, kAllRows));
  take_all_reversed(take, reader.samples(run.id, kAllRows));
  take_all(take, reader.spans(run.id, INT64_MIN, INT64_MAX));
  take_all(take, reader.checkpoints(run.id));
  take_all(take, reader.rank_statuses(run.id));
  take_all(take, reader.notes(run.id));
  take_all_reversed(take, reader.alerts(run.id));
}

}  // namespace ringwright::exchange

#include "console/cli/run_estimate.h"

#include <algorithm>

#include "shared/base/text.h"

namespace ringwright::cli {

nlohmann::json run_estimate(const history::Reader& reader, const std::string& run) {
  constexpr size_t kEventsMax = 10'000;  // of which the daemon keeps the latest
  for (const wire::Event& event : reader.run_events(run, kEventsMax)) {
    if (!event.body.is_object() || event.body.value("name", nlohmann::json()) != "run.estimate") continue;
    nlohmann::json estimate = event.body;
    estimate.erase("name");
    return estimate;
  }
  return nullptr;
}

std::string estimate_cell(const nlohmann::json& estimate, const char* name) {
  if (!estimate.is_object() || !estimate.contains(name) || !estimate.at(name).is_number_integer()) return "-";
  return text::format_bytes(static_cast<uint64_t>(std::max<int64_t>(estimate.at(name).get<int64_t>(), 0)));
}

}  // namespace ringwright::cli

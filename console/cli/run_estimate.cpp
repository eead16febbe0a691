#include "console/cli/run_estimate.h"

#include <algorithm>

#include "shared/base/text.h"

namespace ringwright::cli {

nlohmann::json run_estimate(const history::Reader& reader, const std::string& run) {
  const std::vector<wire::Event> events = reader.run_events(run, {"run.estimate"}, 1);
  if (events.empty() || !events.front().body.is_object()) return nullptr;
  nlohmann::json estimate = events.front().body;
  estimate.erase("name");
  return estimate;
}

std::string estimate_cell(const nlohmann::json& estimate, const char* name) {
  if (!estimate.is_object() || !estimate.contains(name) || !estimate.at(name).is_number_integer()) return "-";
  return text::format_bytes(static_cast<uint64_t>(std::max<int64_t>(estimate.at(name).get<int64_t>(), 0)));
}

}  // namespace ringwright::cli

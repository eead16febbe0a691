#include "console/gui/data/measured_memory.h"

#include <fmt/format.h>

#include "shared/base/text.h"
#include "shared/history/settings_difference.h"

namespace ringwright::gui {

std::optional<int64_t> peak_bytes(const Run& run, int rank) {
  const auto status = run.parts.ranks.find(rank);
  if (status == run.parts.ranks.end() || status->second.resident_bytes_max == 0) return std::nullopt;
  return static_cast<int64_t>(status->second.resident_bytes_max);
}

std::optional<int> largest_rank(const Run& run) {
  std::optional<int> largest;
  for (const auto& [rank, status] : run.parts.ranks) {
    const std::optional<int64_t> peak = rank < 0 ? std::nullopt : peak_bytes(run, rank);
    if (peak && (!largest || *peak > *peak_bytes(run, *largest))) largest = rank;
  }
  return largest;
}

std::string measured_sentence(const Run* run) {
  if (run == nullptr) return "No run is selected. What the ranks of one took would be marked here.";
  const std::optional<int> rank = largest_rank(*run);
  if (!rank) {
    if (run->details == Loading::reading) return fmt::format("reading what the ranks of {} took", run->record.name);
    return fmt::format("{} has not reported what its ranks take, so nothing measured is marked.", run->record.name);
  }
  return fmt::format("{} took at most {} (rank {}): the whole process, with the program and its libraries", run->record.name,
                     text::format_bytes(static_cast<uint64_t>(*peak_bytes(*run, *rank))), *rank);
}

std::string other_recipe_sentence(const history::RunRecord& run, const nlohmann::json& resolved) {
  if (!run.recipe.is_object() || run.recipe.empty()) return "What it was started with is not known here.";
  history::RunRecord here;
  here.recipe = resolved;
  const std::vector<history::SettingDifference> differences = history::settings_difference(run, here, false);
  if (differences.empty()) return "";
  const std::string first = differences.front().key.substr(differences.front().key.find('.') + 1);
  return fmt::format("It was started with other settings than this recipe's: {} differ{}, {}{}", differences.size(),
                     differences.size() == 1 ? "s" : "", first, differences.size() == 1 ? "" : " first");
}

}  // namespace ringwright::gui

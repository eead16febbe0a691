// What a run's ranks took of memory, to be put beside what was estimated.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "console/gui/data/state.h"

namespace ringwright::gui {

// The most that a rank's whole process has held, program and libraries included; nullopt: it has reported none.
std::optional<int64_t> peak_bytes(const Run& run, int rank);
// The rank that held most; nullopt: none has reported any.
std::optional<int> largest_rank(const Run& run);

// "demo-sft-cp2 took at most 612 MiB (rank 1): the whole process, with the program and its libraries", or why nothing can be said. `run` may be null.
std::string measured_sentence(const Run* run);
// Whether a run is one of this recipe, so that its marks and the recipe's estimate are of the same: "" when it is, else what sets them apart.
std::string other_recipe_sentence(const history::RunRecord& run, const nlohmann::json& resolved);

}  // namespace ringwright::gui

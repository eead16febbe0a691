// Whether single steps of two runs say anything of each other.
#pragma once

#include <optional>
#include <string>

#include "shared/history/store.h"

namespace ringwright::history {

struct NotComparable {
  std::string what;  // "sft.seed is 1 in one and 2 in the other"
  std::string expected, action;
};

// Runs that were trained on other data, on its rows in another order, or on other packs have other batches in a step of the same number. nullopt:
// nothing that is kept of them says so.
std::optional<NotComparable> why_not_comparable(const Reader& reader, const RunRecord& a, const RunRecord& b);

}  // namespace ringwright::history

// Samples as text: what a model was asked and what it said.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console/gui/data/state.h"

namespace ringwright::gui {

// A field's text; "" where the sample has none.
std::string sample_field(const history::SampleRecord& sample, const char* field);
std::optional<double> sample_number(const history::SampleRecord& sample, const char* field);
// Bytes that are no UTF-8 as <E2 96>, control characters but for line ends and tabs as <07>.
std::string visible_bytes(std::string_view bytes);
// Positions in `samples` of those of the step at or before `step`, or of the newest; in their order. Empty only when there are none.
std::vector<size_t> samples_at(const std::deque<history::SampleRecord>& samples, std::optional<int64_t> step);

}  // namespace ringwright::gui

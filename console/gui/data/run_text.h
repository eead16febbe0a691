// How runs read: what several views and the tests show of a run, as text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "console/gui/data/state.h"

namespace ringwright::gui {

// The value under the first of the names that the run has: names differ between recipes' loggers.
std::optional<double> latest_value(const Run& run, std::string_view metric);
// The full name under which the run has this metric; "" when it has none. `metric`: "loss", "lr", "grad_norm", "tokens_per_s".
const std::string& metric_name(const Run& run, std::string_view metric);

// "cp2", "dp2 cp4 tp2"; "1 rank" for a mesh of ones.
std::string mesh_text(const history::RunRecord& run);
// "03-02 08:48", UTC offset of this machine.
std::string clock_text(int64_t time_unix_ns);
std::string time_of_day_text(int64_t time_unix_ns);

// Every word must occur in the text, every word after '!' must not; case is ignored.
bool matches_words(std::string_view text, std::string_view words);
// What a run's filter looks at: name, id, state, algorithm, mesh.
std::string filter_text(const history::RunRecord& run);

}  // namespace ringwright::gui

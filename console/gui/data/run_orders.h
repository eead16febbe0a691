// Orders on their way to a daemon.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "console/gui/data/requests.h"
#include "console/gui/data/source.h"
#include "shared/wire/control.h"

namespace ringwright::gui {

// How long the console waits for a daemon's answer: also the longest that closing the window can wait for one that hangs (T36).
inline constexpr std::chrono::milliseconds kAnswerTimeout{1500};

// Passes it on; the outcome is a notice. Without `endpoints` no daemon is there: `how_to_get_one` says what to do about that. An order whose outcome
// nobody can see any more, as `stop` was asked for, is told to the terminal that the console was started from.
void pass_on(UpdateQueue& queue, const RunOrder& order, const std::optional<wire::Endpoints>& endpoints, const std::string& how_to_get_one,
             const std::stop_token& stop);
// Those that were still waiting when the window was closed.
void tell_undelivered(Requests& requests);

LinkState link_state(wire::EventStream::Connection connection);

}  // namespace ringwright::gui

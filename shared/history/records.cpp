#include "shared/history/records.h"

#include <array>
#include <utility>

#include "shared/base/error.h"

namespace ringwright::history {
namespace {

constexpr std::array<std::pair<RunState, std::string_view>, 9> kStates = {{{RunState::queued, "queued"},
                                                                           {RunState::starting, "starting"},
                                                                           {RunState::running, "running"},
                                                                           {RunState::paused, "paused"},
                                                                           {RunState::stopping, "stopping"},
                                                                           {RunState::finished, "finished"},
                                                                           {RunState::failed, "failed"},
                                                                           {RunState::stopped, "stopped"},
                                                                           {RunState::lost, "lost"}}};

}  // namespace

std::string_view to_string(RunState state) { return kStates[static_cast<size_t>(state)].second; }

RunState run_state_from_string(std::string_view text) {
  for (const auto& [state, name] : kStates)
    if (name == text) return state;
  std::string known;
  for (const auto& [state, name] : kStates) known += (known.empty() ? "" : ", ") + std::string(name);
  throw Error({"RW-STORE-010", "\"" + std::string(text) + "\" is no state of a run", "", known, "use the same version for daemon and command line",
               ExitCode::store});
}

bool is_final(RunState state) {
  return state == RunState::finished || state == RunState::failed || state == RunState::stopped || state == RunState::lost;
}

}  // namespace ringwright::history

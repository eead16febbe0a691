#include "shared/history/records.h"

#include <fmt/format.h>

#include <algorithm>
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
  throw Error({"RW-STORE-010", fmt::format("\"{}\" is no state of a run", text), "", known, "use the same version for daemon and command line",
               ExitCode::store});
}

bool is_final(RunState state) {
  return state == RunState::finished || state == RunState::failed || state == RunState::stopped || state == RunState::lost;
}

Error reserved_name(const std::string& name) {
  return Error({"RW-STORE-016", "no run can be named \"" + name + "\"", "--name, ringwright.name or the recipe's file name",
                "a name that is not \"last\" and does not read like a run's id (r_ and hexadecimal digits)", "give another: --name NAME",
                ExitCode::usage});
}

std::optional<double> elapsed_seconds(const RunRecord& run, int64_t now_unix_ns) {
  constexpr double kNsPerSecond = 1e9;
  if (run.duration_ns >= 0) return static_cast<double>(run.duration_ns) / kNsPerSecond;
  const int64_t end = run.ended_unix_ns > 0 ? run.ended_unix_ns : now_unix_ns;
  if (run.started_unix_ns == 0 || end < run.started_unix_ns) return std::nullopt;
  return static_cast<double>(end - run.started_unix_ns) / kNsPerSecond;
}

bool reads_like_an_id(std::string_view text) {
  constexpr size_t kDigitsMax = 8;
  if (!text.starts_with("r_") || text.size() > 2 + kDigitsMax) return false;
  return std::all_of(text.begin() + 2, text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace ringwright::history

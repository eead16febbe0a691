#include "console/cli/run_text.h"

#include <fmt/format.h>

#include "console/cli/terminal.h"
#include "shared/base/local_time.h"
#include "shared/base/printable.h"

namespace ringwright::cli {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

struct StateStyle {
  history::RunState state;
  Style style;
};
constexpr StateStyle kStateStyles[] = {{history::RunState::paused, Style::warning},  {history::RunState::running, Style::accent},
                                       {history::RunState::starting, Style::accent}, {history::RunState::stopping, Style::warning},
                                       {history::RunState::finished, Style::good},   {history::RunState::failed, Style::bad},
                                       {history::RunState::lost, Style::bad},        {history::RunState::stopped, Style::warning}};

}  // namespace

std::string format_time(int64_t time_unix_ns) { return time_unix_ns == 0 ? "-" : text::format_local_time(time_unix_ns); }

std::string format_mesh(const nlohmann::json& mesh) {
  std::string text;
  if (mesh.is_object())
    for (const char* axis : {"pp", "dp_replicate", "dp_shard", "cp", "tp"})
      if (const int size = mesh.value(axis, 1); size > 1) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, size);
  return text.empty() ? "1 rank" : text;
}

history::RunRecord printable(history::RunRecord run) {
  for (std::string* text : {&run.name, &run.algorithm, &run.reason, &run.recipe_path}) *text = text::printable(*text);
  for (std::string& text : run.overrides) text = text::printable(text);
  return run;
}

std::string tolerance_verdict(bool good, double tolerance) {
  return fmt::format("{} the tolerance {:g}", good ? styled("within", Style::good) : styled("beyond", Style::bad), tolerance);
}

std::string styled_state(history::RunState state) {
  for (const StateStyle& entry : kStateStyles)
    if (entry.state == state) return styled(history::to_string(state), entry.style);
  return std::string(history::to_string(state));
}

}  // namespace ringwright::cli

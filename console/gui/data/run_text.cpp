#include "console/gui/data/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <sstream>
#include <vector>

namespace ringwright::gui {
namespace {

struct MetricAlias {
  std::string_view metric;
  std::vector<std::string> names;
};

// Made once: runs are asked for these in every frame.
const std::vector<MetricAlias>& metric_aliases() {
  static const std::vector<MetricAlias> list = {
      {"loss", {"train/loss", "loss", "train/total_loss"}},
      {"lr", {"train/lr", "lr", "train/learning_rate", "optim/lr"}},
      {"grad_norm", {"train/grad_norm", "grad_norm", "optim/grad_norm"}},
      {"tokens_per_s", {"perf/tokens_per_s", "performance/tokens_per_second", "performance/tokens_per_sec"}}};
  return list;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string format_time(int64_t time_unix_ns, const char* format) {
  const std::time_t seconds = static_cast<std::time_t>(time_unix_ns / 1'000'000'000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char buffer[32];
  return {buffer, std::strftime(buffer, sizeof buffer, format, &parts)};
}

}  // namespace

const std::string& metric_name(const Run& run, std::string_view metric) {
  static const std::string none;
  for (const MetricAlias& alias : metric_aliases()) {
    if (alias.metric != metric) continue;
    for (const std::string& name : alias.names) {
      if (run.latest.contains(name) || run.metrics.contains(name)) return name;
    }
  }
  return none;
}

std::optional<double> latest_value(const Run& run, std::string_view metric) {
  const auto found = run.latest.find(metric_name(run, metric));
  if (found == run.latest.end()) return std::nullopt;
  return found->second.value;
}

std::string mesh_text(const history::RunRecord& run) {
  std::string text;
  constexpr std::pair<const char*, const char*> axes[] = {{"pp", "pp"}, {"dp_replicate", "rep"}, {"dp_shard", "dp"}, {"cp", "cp"}, {"tp", "tp"}};
  for (const auto& [key, label] : axes) {
    const int size = run.mesh.is_object() && run.mesh.contains(key) && run.mesh[key].is_number_integer() ? run.mesh[key].get<int>() : 1;
    if (size > 1) text += fmt::format("{}{}{}", text.empty() ? "" : " ", label, size);
  }
  return text.empty() ? "1 rank" : text;
}

std::string clock_text(int64_t time_unix_ns) { return time_unix_ns == 0 ? "-" : format_time(time_unix_ns, "%m-%d %H:%M"); }
std::string time_of_day_text(int64_t time_unix_ns) { return time_unix_ns == 0 ? "-" : format_time(time_unix_ns, "%H:%M:%S"); }

bool matches_words(std::string_view text, std::string_view words) {
  const std::string haystack = lower(text);
  std::istringstream stream(lower(words));
  for (std::string word; stream >> word;) {
    const bool inverse = word.size() > 1 && word.front() == '!';
    const bool found = haystack.find(inverse ? word.substr(1) : word) != std::string::npos;
    if (found == inverse) return false;
  }
  return true;
}

std::string filter_text(const history::RunRecord& run) {
  return fmt::format("{} {} {} {} {}", run.name, run.id, history::to_string(run.state), run.algorithm, mesh_text(run));
}

}  // namespace ringwright::gui

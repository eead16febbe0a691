#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "shared/base/printable.h"
#include "shared/exchange/tensorboard_files.h"
#include "shared/fingerprint/inputs.h"
#include "shared/tensorboard/event.h"
#include "shared/tensorboard/record_file.h"

namespace ringwright::exchange {
namespace {

namespace fs = std::filesystem;
using history::MetricPoint;
using nlohmann::json;

constexpr size_t kFilesMax = 10'000;
constexpr size_t kPointsMax = 20'000'000;  // some gigabyte
constexpr double kTimeMax_s = 9e9;         // beyond it nanoseconds do not fit into 64 bits

using SeriesByTag = std::map<std::string, std::vector<MetricPoint>>;

struct FileContent {
  fs::path file;
  double first_time_s = 0, last_time_s = 0;
  SeriesByTag series;
  json hyperparameters;
  uint64_t other_values = 0, bytes_cut_off = 0;
};

int64_t to_unix_ns(double seconds) { return std::isfinite(seconds) && seconds > 0 && seconds < kTimeMax_s ? std::llround(seconds * 1e9) : 0; }

Error nothing_here(const fs::path& place) {
  return Error({"RW-TB-004", "there is no TensorBoard event file with scalars", place.string(), "a file, or a folder with files, named *tfevents*",
                "name the folder that NeMo RL's logger.log_dir was set to"});
}

void add_event(const tensorboard::RecordFile& file, const tensorboard::Event& event, FileContent& content, size_t& points) {
  content.other_values += event.other_values;
  if (!event.hyperparameters.is_null()) content.hyperparameters = event.hyperparameters;
  if (event.scalars.empty()) return;
  if (event.step < 0)
    throw Error({"RW-TB-005", "an event has step " + std::to_string(event.step), file.place(), "steps from 0 on", "nothing was imported"});
  if ((points += event.scalars.size()) > kPointsMax)
    throw Error({"RW-TB-006", "there are more than " + std::to_string(kPointsMax) + " values", file.place(), "fewer in one import",
                 "import its folders one by one"});
  for (const tensorboard::Scalar& scalar : event.scalars)
    content.series[scalar.tag].push_back({event.step, scalar.value, -1, to_unix_ns(event.wall_time_s), 0});
  if (content.first_time_s == 0) content.first_time_s = event.wall_time_s;
  content.last_time_s = std::max(content.last_time_s, event.wall_time_s);
}

FileContent read_file(const fs::path& path, size_t& points) {
  FileContent content;
  content.file = path;
  tensorboard::RecordFile file(path);
  std::string record;
  while (file.next(record)) {
    try {
      add_event(file, tensorboard::decode_event(record), content, points);
    } catch (const Error& error) {
      ErrorParts parts = error.parts();
      if (parts.where.empty()) parts.where = file.place();
      throw Error(parts);
    }
  }
  if (file.records() == 0) throw nothing_here(path);
  content.bytes_cut_off = file.bytes_cut_off();
  return content;
}

// In step order, of a step that comes again the last value.
void put_in_order(std::vector<MetricPoint>& points) {
  std::stable_sort(points.begin(), points.end(), [](const MetricPoint& a, const MetricPoint& b) { return a.step < b.step; });
  size_t kept = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (kept > 0 && points[kept - 1].step == points[i].step) --kept;
    points[kept++] = points[i];
  }
  points.resize(kept);
}

// A file that has a step again that the files before it had is a resume; one that goes on, or has other tags, is not.
bool repeats(const FileContent& file, const std::map<std::string, int64_t>& last_steps) {
  return std::any_of(file.series.begin(), file.series.end(), [&](const auto& entry) {
    const auto found = last_steps.find(entry.first);
    return found != last_steps.end() && entry.second.front().step <= found->second;
  });
}

int64_t first_step(const FileContent& file) {
  int64_t first = INT64_MAX;
  for (const auto& [tag, points] : file.series) first = std::min(first, points.front().step);
  return first;
}

void add_series(TensorboardRun& result, std::vector<FileContent>& files) {
  std::map<std::string, int64_t> last_steps;
  int64_t segment = 1;
  for (FileContent& file : files) {
    for (auto& [tag, points] : file.series) put_in_order(points);
    const bool opens = result.segments.empty() || repeats(file, last_steps);
    if (!result.segments.empty() && opens) ++segment, last_steps.clear();
    if (opens) result.segments.push_back({segment, first_step(file), to_unix_ns(file.first_time_s)});
    for (auto& [tag, points] : file.series) {
      last_steps[tag] = std::max(last_steps[tag], points.back().step);
      result.run.last_step = std::max(result.run.last_step, points.back().step);
      result.series.push_back({tag, 0, segment, std::move(points)});
    }
  }
  result.run.segment = segment;
}

// What tells the algorithm: the first tag that is there.
struct AlgorithmTag {
  const char* tag;
  const char* algorithm;
};
constexpr AlgorithmTag kAlgorithmTags[] = {{"train/preference_loss", "dpo"},
                                           {"train/rewards_chosen_mean", "rm"},
                                           {"train/critic/explained_var", "ppo"},
                                           {"train/critic/grad_norm", "ppo"},
                                           {"train/reward", "grpo"},
                                           {"train/mean_prompt_length", "distillation"},
                                           {"train/num_unmasked_tokens", "sft"}};

std::string algorithm_of(const std::vector<SeriesPoints>& series) {
  for (const AlgorithmTag& entry : kAlgorithmTags)
    if (std::any_of(series.begin(), series.end(), [&](const SeriesPoints& one) { return one.metric == entry.tag; })) return entry.algorithm;
  return "unknown";
}

// {"policy.model_name": x} -> {"policy": {"model_name": x}}; whole numbers are whole again. A name that would be value and map at once stays as it
// is.
json unflattened(const json& flat) {
  json all = json::object();
  for (const auto& [name, value] : flat.items()) {
    json* at = &all;
    size_t begin = 0;
    for (size_t dot; (dot = name.find('.', begin)) != name.npos && (at->is_null() || at->is_object()); begin = dot + 1)
      at = &(*at)[name.substr(begin, dot - begin)];
    const bool whole = value.is_number_float() && std::floor(value.get<double>()) == value.get<double>() && std::abs(value.get<double>()) < 1e15;
    const json kept = whole ? json(static_cast<int64_t>(value.get<double>())) : value;
    if (at->is_null() || at->is_object())
      (*at)[name.substr(begin)] = kept;
    else
      all[name] = kept;
  }
  return all;
}

struct MeshKey {
  const char* axis;
  const char* pointer;
};
constexpr MeshKey kMeshKeys[] = {{"cp", "/policy/dtensor_cfg/context_parallel_size"},
                                 {"tp", "/policy/dtensor_cfg/tensor_parallel_size"},
                                 {"cp", "/policy/megatron_cfg/context_parallel_size"},
                                 {"tp", "/policy/megatron_cfg/tensor_model_parallel_size"},
                                 {"pp", "/policy/megatron_cfg/pipeline_model_parallel_size"}};

std::optional<int64_t> whole_number(const json& recipe, const char* pointer) {
  const json::json_pointer place(pointer);
  if (!recipe.contains(place) || !recipe.at(place).is_number_integer() || recipe.at(place) < 1 || recipe.at(place) > 1'000'000) return std::nullopt;
  return recipe.at(place).get<int64_t>();
}

void read_sizes(history::RunRecord& run) {
  run.mesh = json::object();
  for (const MeshKey& key : kMeshKeys) {
    const bool megatron = std::string_view(key.pointer).find("megatron") != std::string_view::npos;
    const json enabled = run.recipe.value(json::json_pointer("/policy/megatron_cfg/enabled"), json(false));
    if (const auto size = whole_number(run.recipe, key.pointer); size && megatron == (enabled == true)) run.mesh[key.axis] = *size;
  }
  const int64_t ranks = whole_number(run.recipe, "/cluster/gpus_per_node").value_or(1) * whole_number(run.recipe, "/cluster/num_nodes").value_or(1);
  run.world_size = static_cast<int>(std::min<int64_t>(ranks, 1'000'000));
}

TensorboardRun make_run(std::vector<FileContent> files, const std::string& name) {
  std::sort(files.begin(), files.end(),
            [](const FileContent& a, const FileContent& b) { return std::tie(a.first_time_s, a.file) < std::tie(b.first_time_s, b.file); });
  TensorboardRun result;
  std::string hashes;
  uint64_t other_values = 0;
  history::RunRecord& run = result.run;
  run.recipe = json::object();
  for (const FileContent& file : files) {
    hashes += fingerprint::xxh3_of_file(file.file) + "\n";
    other_values += file.other_values;
    run.ended_unix_ns = std::max(run.ended_unix_ns, to_unix_ns(file.last_time_s));
    if (file.hyperparameters.is_object()) run.recipe.update(unflattened(file.hyperparameters));
    if (file.bytes_cut_off)
      result.notes.push_back(
          fmt::format("{}: the last {} bytes are a record that was never finished", text::printable(file.file.string()), file.bytes_cut_off));
  }
  if (other_values) result.notes.push_back(fmt::format("{}: {} images, histograms or texts are left out", name, other_values));
  std::erase_if(files, [](const FileContent& file) { return file.series.empty(); });
  run.name = name;
  run.state = history::RunState::finished;
  run.created_unix_ns = run.started_unix_ns = to_unix_ns(files.front().first_time_s);
  run.duration_ns = std::max<int64_t>(0, run.ended_unix_ns - run.started_unix_ns);
  add_series(result, files);
  run.algorithm = algorithm_of(result.series);
  read_sizes(run);
  result.xxh3 = fingerprint::xxh3_of_text(hashes);
  return result;
}

std::vector<fs::path> find_files(const fs::path& place) {
  std::error_code failure;
  if (!fs::is_directory(place, failure)) return {place};
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(place, fs::directory_options::skip_permission_denied, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().filename().string().find("tfevents") == std::string::npos || !entry->is_regular_file(failure) || entry->is_symlink(failure))
      continue;
    files.push_back(entry->path());
    if (files.size() > kFilesMax)
      throw Error({"RW-TB-006", "there are more than " + std::to_string(kFilesMax) + " event files", place.string(), "fewer in one import",
                   "import its folders one by one"});
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A folder's name as the user sees it: below what was named.
std::string name_of(const fs::path& place, const fs::path& folder) {
  std::error_code failure;
  const fs::path whole = fs::absolute(place, failure).lexically_normal();
  const std::string top = whole.filename().empty() ? whole.parent_path().filename().string() : whole.filename().string();
  const fs::path below = folder.lexically_relative(place);
  return text::printable(below.empty() || below == "." ? top : top + "/" + below.generic_string());
}

// Folders with scalars are runs; the files of the others go to the nearest such folder above them.
std::map<fs::path, std::vector<FileContent>> by_run(std::map<fs::path, std::vector<FileContent>> folders) {
  std::set<fs::path> runs;
  for (const auto& [folder, files] : folders)
    if (std::any_of(files.begin(), files.end(), [](const FileContent& file) { return !file.series.empty(); })) runs.insert(folder);
  std::map<fs::path, std::vector<FileContent>> result;
  for (auto& [folder, files] : folders) {
    fs::path owner = folder;
    while (!runs.contains(owner) && owner.has_relative_path() && owner != owner.parent_path()) owner = owner.parent_path();
    if (!runs.contains(owner)) continue;
    std::move(files.begin(), files.end(), std::back_inserter(result[owner]));
  }
  return result;
}

}  // namespace

std::vector<TensorboardRun> read_tensorboard(const fs::path& place) {
  std::map<fs::path, std::vector<FileContent>> folders;
  size_t points = 0;
  for (const fs::path& file : find_files(place)) folders[file.parent_path()].push_back(read_file(file, points));
  std::vector<TensorboardRun> runs;
  std::error_code failure;
  const bool is_folder = fs::is_directory(place, failure);
  for (auto& [folder, files] : by_run(std::move(folders))) {
    const std::string name = is_folder ? name_of(place, folder) : text::printable(place.filename().string());
    runs.push_back(make_run(std::move(files), name));
  }
  if (runs.empty()) throw nothing_here(place);
  return runs;
}

}  // namespace ringwright::exchange

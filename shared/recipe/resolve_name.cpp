#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "shared/base/error.h"
#include "shared/base/paths.h"
#include "shared/recipe/node.h"
#include "shared/recipe/recipe.h"

namespace ringwright::recipe {
namespace {

namespace fs = std::filesystem;

class Search {
 public:
  // True when it is there; remembers the place otherwise.
  bool look(const fs::path& place) {
    std::error_code ignored;
    if (fs::exists(place, ignored)) {
      found_ = fs::weakly_canonical(place);
      named_ = place;
      return true;
    }
    looked_at_.push_back(place.string());
    return false;
  }

  const fs::path& found() const { return found_; }
  const fs::path& named() const { return named_; }  // before links were followed: the hub's cache links to names without an ending
  const std::vector<std::string>& looked_at() const { return looked_at_; }

 private:
  fs::path found_, named_;
  std::vector<std::string> looked_at_;
};

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

fs::path expand_home(const std::string& text) {
  if (text == "~" || text.starts_with("~/")) return fs::path(from_environment("HOME")) / text.substr(std::min<size_t>(2, text.size()));
  return text;
}

bool look_below(Search& search, const Recipe& recipe, const std::string& written) {
  const fs::path path = expand_home(written);
  if (path.is_absolute()) return search.look(path);
  return search.look(fs::absolute(recipe.file).parent_path() / path) || search.look(fs::current_path() / path);
}

// ringwright.paths: {name: path}. Names may hold dots and slashes.
std::string given_path(const Recipe& recipe, const std::string& name) {
  const auto section = recipe.resolved.find("ringwright");
  if (section == recipe.resolved.end() || !section->is_object() || !section->contains("paths")) return "";
  const auto& paths = section->at("paths");
  if (!paths.is_object() || !paths.contains(name)) return "";
  const auto& value = paths.at(name);
  return value.is_string() ? value.get<std::string>() : "";
}

// What bootstrap made: models/<name>, data/<name>.txt, data/<name>.jsonl.
bool look_in_cache(Search& search, const std::string& name) {
  if (name.find('/') != std::string::npos || name == "." || name == "..") return false;
  const fs::path cache = paths::cache_directory();
  return search.look(cache / "models" / name) || search.look(cache / "data" / (name + ".txt")) || search.look(cache / "data" / (name + ".jsonl")) ||
         (fs::path(name).has_extension() && search.look(cache / "data" / name));
}

fs::path hub_directory() {
  if (const std::string hub = from_environment("HF_HUB_CACHE"); !hub.empty()) return hub;
  if (const std::string home = from_environment("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
  return fs::path(from_environment("HOME")) / ".cache/huggingface/hub";
}

// The one that refs/main names, else the newest.
fs::path snapshot_of(const fs::path& repository) {
  std::error_code ignored;
  std::string revision;
  std::ifstream(repository / "refs" / "main") >> revision;
  const fs::path snapshots = repository / "snapshots";
  if (!revision.empty() && revision.find('/') == std::string::npos && fs::is_directory(snapshots / revision, ignored)) return snapshots / revision;
  fs::path newest;
  fs::file_time_type newest_time{};
  for (const auto& entry : fs::directory_iterator(snapshots, ignored)) {
    if (!entry.is_directory(ignored) || (!newest.empty() && entry.last_write_time(ignored) <= newest_time)) continue;
    newest = entry.path();
    newest_time = entry.last_write_time(ignored);
  }
  return newest;
}

// A data set's file that this engine reads: train, or the only one.
fs::path data_file_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::path& place : {folder, folder / "data"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place, ignored))
      if (entry.path().extension() == ".jsonl" || entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  const auto train = std::find_if(files.begin(), files.end(), [](const fs::path& file) { return file.stem() == "train"; });
  if (train != files.end()) return *train;
  return files.size() == 1 ? files.front() : folder / "train.jsonl";
}

bool look_in_hub(Search& search, const std::string& name, NameKind kind) {
  if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos || std::count(name.begin(), name.end(), '/') > 1) return false;
  std::string folder = name;
  if (const size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
  const fs::path repository = hub_directory() / ((kind == NameKind::model ? "models--" : "datasets--") + folder);
  const fs::path snapshot = snapshot_of(repository);
  if (snapshot.empty()) return search.look(repository / "snapshots" / "*");
  return search.look(kind == NameKind::model ? snapshot : data_file_in(snapshot));
}

// What the typed view takes a data set for is decided by the name's ending (sft_config); what was found must not be something else.
void refuse_other_format(const std::string& name, const std::string& given, const fs::path& found) {
  const std::string said = fs::path(given.empty() ? name : given).extension();
  if (!said.empty() || found.extension() != ".jsonl") return;
  throw Error({"RW-RECIPE-031", "'" + name + "' is " + found.string() + ", which holds prompts and answers; a bare name stands for plain text", name,
               "a name whose ending says what it is", "name the file: data_path: " + found.string(), ExitCode::refused});
}

}  // namespace

fs::path resolve_name(const Recipe& recipe, const std::string& name, NameKind kind) {
  Search search;
  const std::string given = given_path(recipe, name);
  if (look_below(search, recipe, name) || (!given.empty() && look_below(search, recipe, given)) || look_in_cache(search, name) ||
      look_in_hub(search, name, kind)) {
    if (kind == NameKind::data) refuse_other_format(name, given, search.named());
    return search.found();
  }
  std::string places;
  for (const std::string& place : search.looked_at()) places += (places.empty() ? "" : ", ") + place;
  const bool is_path = name.starts_with('/') || name.starts_with('.') || name.starts_with('~');
  throw Error({"RW-RECIPE-030", "'" + name + "' is neither a path nor a known name", "looked at: " + places, "a model's folder or a data file",
               is_path ? "correct the path" : "correct the name, or say in the recipe where it is: ringwright: {paths: {" + name + ": /the/path}}",
               ExitCode::refused});
}

}  // namespace ringwright::recipe

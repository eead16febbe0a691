#include <algorithm>
#include <cstdlib>
#include <filesystem>
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
      return true;
    }
    looked_at_.push_back(place.string());
    return false;
  }

  const fs::path& found() const { return found_; }
  const std::vector<std::string>& looked_at() const { return looked_at_; }

 private:
  fs::path found_;
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
  return search.look(fs::absolute(recipe.file.parent_path()) / path) || search.look(fs::current_path() / path);
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

// ORG/NAME -> the snapshot that refs/main names, else the newest one.
bool look_in_hub(Search& search, const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos || std::count(name.begin(), name.end(), '/') > 1) return false;
  std::string folder = name;
  if (const size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
  const fs::path snapshots = hub_directory() / ("models--" + folder) / "snapshots";
  std::error_code ignored;
  std::vector<fs::directory_entry> found;
  for (const auto& entry : fs::directory_iterator(snapshots, ignored))
    if (entry.is_directory(ignored)) found.push_back(entry);
  if (found.empty()) return search.look(snapshots / "*");
  const auto newer = [&](const auto& a, const auto& b) { return a.last_write_time(ignored) < b.last_write_time(ignored); };
  return search.look(std::max_element(found.begin(), found.end(), newer)->path());
}

}  // namespace

fs::path resolve_name(const Recipe& recipe, const std::string& name) {
  Search search;
  const std::string given = given_path(recipe, name);
  if (look_below(search, recipe, name) || (!given.empty() && look_below(search, recipe, given)) || look_in_cache(search, name) ||
      look_in_hub(search, name))
    return search.found();
  std::string places;
  for (const std::string& place : search.looked_at()) places += (places.empty() ? "" : ", ") + place;
  const bool is_path = name.starts_with('/') || name.starts_with('.') || name.starts_with('~');
  throw Error({"RW-RECIPE-030", "'" + name + "' is neither a path nor a known name", "looked at: " + places, "a model's folder or a data file",
               is_path ? "correct the path" : "correct the name, or say where it is: +ringwright.paths." + name + "=/the/path", ExitCode::refused});
}

}  // namespace ringwright::recipe

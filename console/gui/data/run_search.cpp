#include "console/gui/data/run_search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <sstream>

#include "shared/query/query.h"

namespace ringwright::gui {
namespace {

constexpr std::array kKeywords = {"and", "or", "not", "in", "is", "order", "limit", "by"};
constexpr size_t kRunsLookedAt = 200;  // for names; the newest have all that matter

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view last_word(std::string_view text) {
  const size_t at = text.find_last_of(" ()=<>!~,");
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

void add_keys(const nlohmann::json& json, const std::string& path, std::set<std::string>& keys) {
  if (!json.is_object()) {
    keys.insert(path);
    return;
  }
  for (const auto& [key, value] : json.items()) {
    if (key.find_first_of(". \"'") == std::string::npos) add_keys(value, path + "." + key, keys);
  }
}

}  // namespace

bool is_word_search(std::string_view text) {
  if (text.find_first_of("=<>~()\"'") != std::string_view::npos) return false;
  std::istringstream words(lower(text));
  for (std::string word; words >> word;)
    if (std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end()) return false;
  return true;
}

std::optional<size_t> error_column(const ErrorParts& error) {
  constexpr std::string_view kBefore = "column ";
  if (!error.where.starts_with(kBefore)) return std::nullopt;
  size_t column = 0;
  const char* begin = error.where.data() + kBefore.size();
  if (std::from_chars(begin, error.where.data() + error.where.size(), column).ec != std::errc() || column == 0) return std::nullopt;
  return column;
}

std::vector<QueryField> query_fields(const State& state) {
  std::vector<QueryField> fields;
  for (query::FieldHelp& help : query::field_help()) {
    const bool is_pattern = std::any_of(help.name.begin(), help.name.end(), [](unsigned char c) { return std::isupper(c); });
    if (!is_pattern) fields.push_back({std::move(help.name), std::move(help.type), std::move(help.meaning)});
  }
  std::set<std::string> keys, metrics;
  for (size_t i = 0; i < std::min(state.runs().size(), kRunsLookedAt); ++i) {
    const Run& run = *state.runs()[i];
    add_keys(run.record.recipe, "recipe", keys);
    add_keys(run.record.mesh, "mesh", keys);
    for (const auto& [name, point] : run.latest) metrics.insert(name);
  }
  for (const std::string& key : keys) fields.push_back({key, key.starts_with("mesh.") ? "number" : "setting", ""});
  for (const std::string& metric : metrics)
    for (const char* part : {".last", ".min", ".max"}) fields.push_back({metric + part, "metric", ""});
  return fields;
}

std::vector<QueryField> completions(const std::vector<QueryField>& fields, std::string_view text, size_t most) {
  const std::string word = lower(last_word(text));
  std::vector<QueryField> found;
  if (word.empty()) return found;
  const auto add = [&](bool (*fits)(const std::string&, const std::string&)) {
    for (const QueryField& field : fields) {
      if (found.size() >= most) return;
      const bool known = std::any_of(found.begin(), found.end(), [&](const QueryField& other) { return other.name == field.name; });
      if (!known && lower(field.name) != word && fits(lower(field.name), word)) found.push_back(field);
    }
  };
  add([](const std::string& name, const std::string& start) { return name.starts_with(start); });
  add([](const std::string& name, const std::string& part) { return name.find(part) != std::string::npos; });
  return found;
}

std::string complete(std::string_view text, const QueryField& completion) {
  return std::string(text.substr(0, text.size() - last_word(text).size())) + completion.name + " ";
}

}  // namespace ringwright::gui

#include "console/gui/recipe/line_ends.h"

#include <fmt/format.h>

#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr size_t kShownBytesMax = 80;  // of a value behind a line

const nlohmann::ordered_json* find(const nlohmann::ordered_json& root, const std::string& key) {
  const nlohmann::ordered_json* at = &root;
  for (size_t start = 0; start <= key.size();) {
    const size_t dot = std::min(key.find('.', start), key.size());
    const std::string name = key.substr(start, dot - start);
    if (at->is_object() && at->contains(name)) {
      at = &at->at(name);
    } else if (at->is_array() && !name.empty() && name.find_first_not_of("0123456789") == std::string::npos && name.size() < 7 &&
               std::stoul(name) < at->size()) {
      at = &at->at(std::stoul(name));
    } else {
      return nullptr;
    }
    start = dot + 1;
  }
  return at;
}

std::string as_text(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The lines of `defaults` alone: a recipe that says nothing of its own.
std::string defaults_of(const std::string& text) {
  std::string own;
  bool inside = false;
  for (const OutlineLine& line : outline(text)) {
    if (!line.key.empty()) inside = line.key == "defaults" || line.key.starts_with("defaults.");
    if (inside) own += text.substr(line.begin, line.end - line.begin) + "\n";
  }
  return own;
}

}  // namespace

std::shared_ptr<const recipe::Recipe> load_parents(const recipe::Recipe& recipe) {
  const std::string text = defaults_of(recipe.text);
  if (text.empty()) return nullptr;
  try {
    return std::make_shared<recipe::Recipe>(recipe::load_recipe_text(recipe.file, text));
  } catch (const Error&) {
    return nullptr;  // a parent that leaves something for its children to say
  }
}

std::string value_text(const recipe::Recipe& recipe, const std::string& key) {
  const nlohmann::ordered_json* value = find(recipe.resolved, key);
  return value == nullptr ? "" : as_text(*value);
}

std::vector<std::string> line_ends(const recipe::Recipe& recipe, const recipe::Recipe* parents) {
  const auto shown = [](const recipe::Recipe& of, const std::string& key) { return text::excerpt(value_text(of, key), kShownBytesMax); };
  std::vector<std::string> words;
  for (const OutlineLine& line : outline(recipe.text)) {
    std::string& end = words.emplace_back();
    if (line.key.empty() || line.value_begin >= line.value_end) continue;
    if (recipe.text.substr(line.value_begin, line.value_end - line.value_begin).find("${") != std::string::npos) end = "= " + shown(recipe, line.key);
    if (parents == nullptr) continue;
    const auto before = parents->origins.find(line.key);
    if (before == parents->origins.end() || before->second.line <= 0) continue;
    const std::string place = fmt::format("{}:{}", std::filesystem::path(before->second.file).filename().string(), before->second.line);
    end += (end.empty() ? "" : "  ") + fmt::format("{} has {}", place, shown(*parents, line.key));
  }
  return words;
}

}  // namespace ringwright::gui

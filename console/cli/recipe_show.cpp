// ringwright recipe show RECIPE [OVERRIDE..]: the recipe as it will be used, or with --keys what becomes of each key.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "console/cli/recipe_arguments.h"
#include "console/cli/recipe_verbs.h"
#include "console/cli/run_text.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "shared/recipe/key_table.h"
#include "shared/recipe/node.h"
#include "shared/recipe/recipe.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  bool origin = false, keys = false;
};

// One scalar as YAML that upstream's loader reads back as the same value.
std::string scalar_text(const nlohmann::ordered_json& value) {
  if (value.is_object() && value.contains("$int")) return value["$int"].get<std::string>();
  if (value.is_number_float() && std::isnan(value.get<double>())) return ".nan";
  if (value.is_number_float() && std::isinf(value.get<double>())) return value.get<double>() > 0 ? ".inf" : "-.inf";
  if (value.is_structured()) return value.is_array() ? "[]" : "{}";
  return value.dump();  // JSON's texts, numbers and words are YAML
}

bool is_leaf(const nlohmann::ordered_json& value) {
  return !value.is_structured() || value.empty() || (value.is_object() && value.size() == 1 && value.contains("$int"));
}

std::string key_text(const std::string& key) {
  const bool plain = !key.empty() && !std::isdigit(static_cast<unsigned char>(key[0])) &&
                     key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/") == std::string::npos &&
                     key[0] != '-' && key[0] != '.';
  static const std::vector<std::string> kWords = {"yes", "no", "on", "off", "true", "false", "null"};
  std::string lower = key;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return plain && std::find(kWords.begin(), kWords.end(), lower) == kWords.end() ? key : nlohmann::json(key).dump();
}

class Writer {
 public:
  Writer(const recipe::Recipe& recipe, bool origins) : recipe_(recipe), origins_(origins) {}

  std::string write() {
    if (recipe_.resolved.empty()) return "{}\n";
    for (const auto& [key, value] : recipe_.resolved.items()) write_entry(key_text(key) + ":", value, key, 0);
    return std::move(text_);
  }

 private:
  void write_entry(const std::string& lead, const nlohmann::ordered_json& value, const std::string& path, int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    if (is_leaf(value)) {
      add_line(indent + lead + " " + scalar_text(value), path);
      return;
    }
    add_line(indent + lead, "");
    size_t index = 0;
    for (const auto& [key, child] : value.items()) {
      const std::string name = value.is_array() ? std::to_string(index++) : key;
      write_entry(value.is_array() ? "-" : key_text(key) + ":", child, path + "." + name, depth + 1);
    }
  }

  void add_line(const std::string& line, const std::string& path) {
    text_ += line;
    const auto origin = recipe_.origins.find(path);
    if (origins_ && origin != recipe_.origins.end()) {
      constexpr int kCommentColumn = 56;
      const int gap = std::max(2, kCommentColumn - display_width(line));
      text_ += std::string(static_cast<size_t>(gap), ' ') + styled("# " + recipe::describe(origin->second), Style::dim);
    }
    text_ += "\n";
  }

  const recipe::Recipe& recipe_;
  bool origins_;
  std::string text_;
};

// JSON has no inf and nan: {"$float": "inf"} stands for them.
nlohmann::ordered_json with_words_for_floats(nlohmann::ordered_json value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const std::string word = std::isnan(value.get<double>()) ? "nan" : value.get<double>() > 0 ? "inf" : "-inf";
    return {{"$float", word}};
  }
  if (value.is_structured())
    for (auto& child : value) child = with_words_for_floats(std::move(child));
  return value;
}

nlohmann::ordered_json with_origins(const recipe::Recipe& recipe) {
  nlohmann::ordered_json origins = nlohmann::ordered_json::object();
  for (const auto& [key, origin] : recipe.origins) origins[key] = {{"file", origin.file}, {"line", origin.line}, {"column", origin.column}};
  return {{"resolved", with_words_for_floats(recipe.resolved)}, {"origins", origins}};
}

Style style_of(const recipe::KeyStatus& status) {
  if (!status.row) return Style::warning;
  if (status.off) return Style::dim;
  if (status.asked) return Style::bad;
  return status.row->use == recipe::KeyUse::used ? Style::good : Style::dim;
}

std::string text_of(const recipe::KeyStatus& status) {
  if (!status.row) return "not a known key; it is kept";
  const std::string fix = status.asked ? recipe::fix_of({status.key, status.row, {}}) : "";
  return std::string(status.row->text) + (fix.empty() ? "" : "; the way out: " + fix);
}

int show_keys(const recipe::Recipe& recipe, bool as_json) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  Table table({{"key"}, {"here"}, {"what becomes of it", Align::left, true}});
  for (const recipe::KeyStatus& status : recipe::describe_keys(recipe)) {
    json.push_back({{"key", status.key}, {"here", status.word()}, {"text", text_of(status)}});
    table.add_row({status.key, styled(status.word(), style_of(status)), text_of(status)});
  }
  if (as_json)
    fmt::print("{}", dump_ordered_document(json));
  else
    table.print();
  return 0;
}

int show(const Options& options, const Invocation& invocation) {
  const RecipeArguments arguments = split_recipe_arguments(options.words);
  if (arguments.files.size() > 1)
    throw Error({"RW-CLI-003", "more than one recipe is named", arguments.files[1], "one recipe", "call it once for each", ExitCode::usage});
  const recipe::Recipe recipe = recipe::load_recipe(arguments.files[0], arguments.overrides);
  if (options.keys) return show_keys(recipe, invocation.json);
  if (invocation.json) {
    fmt::print("{}", dump_ordered_document((options.origin ? with_origins(recipe) : with_words_for_floats(recipe.resolved))));
    return 0;
  }
  fmt::print("{}", Writer(recipe, options.origin).write());
  for (const recipe::Warning& warning : recipe.warnings)
    fmt::print(stderr, "warning {}: {}: {} (at {})\n", warning.code, warning.key, warning.message, recipe::describe(warning.origin));
  return 0;
}

}  // namespace

void build_recipe_show(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command leaf = add_subverb(command, "show", "Print the recipe with its parents, interpolation and overrides resolved");
  leaf.add_option("recipe", options->words, "the recipe, then overrides: a.b=c, +a.b=c (new), ++a.b=c (either), ~a.b (remove)").required();
  const Option origin = leaf.add_flag("--origin", options->origin, "name the file and line of each value");
  leaf.add_flag("--keys", options->keys, "say of each key what becomes of it: used, mapped, without effect (noted), refused, not yet, off")
      .excludes(origin);
  set_action(leaf, invocation, [options, &invocation] { return show(*options, invocation); });
}

}  // namespace ringwright::cli

#include "console/gui/recipe/completion.h"

#include <algorithm>
#include <map>
#include <set>

#include "shared/layout/layout.h"
#include "shared/layout/methods.h"
#include "shared/layout/packing.h"
#include "shared/recipe/key_table.h"

namespace ringwright::gui {
namespace {

// Every key of the table, without those that stand for any name.
const std::set<std::string>& known_keys() {
  static const std::set<std::string> keys = [] {
    std::set<std::string> all;
    for (const recipe::KeyRow& row : recipe::key_rows()) {
      for (size_t start = 0; start < row.keys.size();) {
        const size_t end = std::min(row.keys.find(' ', start), row.keys.size());
        const std::string_view name = row.keys.substr(start, end - start);
        start = end + 1;
        if (name.empty() || name.ends_with('*')) continue;
        all.insert((row.section.empty() ? "" : std::string(row.section) + ".") + std::string(name));
      }
    }
    return all;
  }();
  return keys;
}

std::vector<std::string> with_automatic(std::vector<std::string> names) {
  names.insert(names.begin(), std::string(layout::names::kAutomatic));
  return names;
}

std::string detail_of(const std::string& key) {
  const recipe::KeyRow* row = recipe::find_key(key);
  if (row == nullptr) return "";
  std::string detail(recipe::to_string(row->use));
  if (!row->text.empty()) detail += ": " + std::string(row->text);
  return detail;
}

// Names in the section, with whether there are keys below them.
std::map<std::string, bool> names_in(const std::string& section) {
  std::map<std::string, bool> names;
  const std::string prefix = section.empty() ? "" : section + ".";
  for (auto key = known_keys().lower_bound(prefix); key != known_keys().end() && key->starts_with(prefix); ++key) {
    const size_t dot = key->find('.', prefix.size());
    names[key->substr(prefix.size(), dot - prefix.size())] |= dot != std::string::npos;
  }
  return names;
}

CompletionList keys_at(std::string_view text, const std::vector<OutlineLine>& lines, size_t line, size_t caret) {
  CompletionList list;
  size_t start = caret;
  while (start > lines[line].begin && text[start - 1] != ' ' && text[start - 1] != '\t') --start;
  list.from = start;
  list.to = std::max(caret, lines[line].key_end > start && lines[line].key_begin == start ? lines[line].key_end : caret);
  const bool has_colon = list.to < text.size() && text[list.to] == ':';
  const int column = static_cast<int>(start - lines[line].begin);
  const std::string section = section_for(lines, line, column);
  const std::string written(text.substr(start, caret - start));
  for (const auto& [name, is_section] : names_in(section)) {
    const std::string key = section.empty() ? name : section + "." + name;
    if (!name.starts_with(written) || (line_of(lines, key) != std::string::npos && lines[line].key != key)) continue;
    const std::string behind = has_colon ? "" : is_section ? ":\n" + std::string(static_cast<size_t>(column) + 2, ' ') : ": ";
    list.items.push_back({name, is_section ? "section" : detail_of(key), name + behind});
  }
  return list;
}

}  // namespace

std::vector<std::string> words_of(const std::string& key) {
  static const std::map<std::string, std::vector<std::string>> words = {{"ringwright.cp.flavour", layout::flavour_names()},
                                                                        {"ringwright.cp.method", with_automatic(layout::method_names())},
                                                                        {"policy.sequence_packing.algorithm", layout::packing_algorithms()},
                                                                        {"policy.precision", {"float32", "bfloat16", "float16"}},
                                                                        {"checkpointing.model_save_format", {"safetensors"}},
                                                                        {"policy.dtensor_cfg.cp_rotate_method", {"allgather", "alltoall"}}};
  if (const auto found = words.find(key); found != words.end()) return found->second;
  const std::string name = key.substr(key.rfind('.') + 1);
  static const std::set<std::string> switches = {"enabled",      "shuffle", "sequence_parallel", "activation_checkpointing", "cpu_offload",
                                                 "val_at_start", "_v2"};
  return switches.contains(name) || name.ends_with("_enabled") ? std::vector<std::string>{"true", "false"} : std::vector<std::string>();
}

CompletionList completions(std::string_view text, const std::vector<OutlineLine>& lines, size_t caret) {
  if (lines.empty()) return {};
  const size_t line = line_at(lines, caret);
  const OutlineLine& at = lines[line];
  if (caret > at.comment_begin && at.comment_begin < at.end) return {};
  if (at.key_begin == at.key_end || caret <= at.key_end) return keys_at(text, lines, line, caret);
  CompletionList list{std::min(at.value_begin, caret), std::max(at.value_end, caret), {}};
  const std::string written(text.substr(list.from, caret - list.from));
  const std::string blank = list.from > 0 && text[list.from - 1] == ':' ? " " : "";
  const std::vector<std::string> words = words_of(at.key);
  const bool is_whole = std::find(words.begin(), words.end(), written) != words.end();  // then the others are offered too
  for (const std::string& word : words) {
    if (is_whole || word.starts_with(written)) list.items.push_back({word, "", blank + word});
  }
  return list;
}

}  // namespace ringwright::gui

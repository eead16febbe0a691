#include "shared/recipe/text_edit.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "shared/recipe/failure.h"
#include "shared/recipe/reader.h"
#include "shared/recipe/source_map.h"
#include "shared/recipe/tree_path.h"
#include "shared/recipe/yaml_text.h"

namespace ringwright::recipe {
namespace {

using Shape = SourceNode::Shape;
using Style = SourceNode::Style;

struct Cut {
  size_t begin = 0, end = 0;
  std::string text;  // what comes there instead
};

// In the order of their places, from the last to the first.
std::string with_cuts(std::string_view text, const std::vector<Cut>& cuts) {
  std::string changed(text);
  for (const Cut& cut : cuts) changed.replace(cut.begin, cut.end - cut.begin, cut.text);
  return changed;
}

// How far nested blocks are indented: as the file does it first.
size_t indent_step(const SourceNode& node, size_t fallback) {
  if (!node.is_block() || node.shape != Shape::map) return fallback;
  for (const SourceEntry& entry : node.entries) {
    if (entry.value.shape == Shape::map && entry.value.is_block() && entry.value.column > node.column) return entry.value.column - node.column;
    if (const size_t below = indent_step(entry.value, 0)) return below;
  }
  return fallback;
}

class TextEditor {
 public:
  TextEditor(std::string_view text, const std::string& file, const TextEdit& edit, SourceNode& root)
      : text_(text), file_(file), edit_(edit), root_(root), step_(indent_step(root, 2)) {
    const size_t line = text.find('\n');
    line_end_ = line != std::string_view::npos && line > 0 && text[line - 1] == '\r' ? "\r\n" : "\n";
  }

  std::vector<Cut> set() {
    if (root_.shape == Shape::scalar && root_.style == Style::empty) return at_the_end();
    SourceNode* node = &root_;
    SourceNode* holder = nullptr;
    size_t depth = 0;
    for (; depth < edit_.path.size(); ++depth) {
      SourceNode* next = child(*node, depth);
      if (!next) break;
      holder = node;
      node = next;
    }
    if (depth == edit_.path.size()) return replace(*holder, *node);
    if (node->shape == Shape::map) return node->is_block() ? add_line(*node, depth) : add_in_braces(*node, depth);
    if (!holder) refuse(node->begin, "the recipe is no map at its top", "write key: value");
    return fill_empty(*holder, *node, depth);
  }

  std::vector<Cut> unset() {
    SourceNode* node = &root_;
    SourceNode* holder = nullptr;
    for (size_t depth = 0; depth < edit_.path.size(); ++depth) {
      holder = node;
      node = child(*node, depth);
      if (!node) not_written(depth);
    }
    const size_t count = holder->shape == Shape::list ? holder->items.size() : holder->entries.size();
    if (count == 1) return empty(*holder);
    return holder->is_block() ? remove_lines(*holder, *node) : remove_in_brackets(*holder, *node);
  }

 private:
  std::string key_until(size_t depth) const {
    std::string key;
    for (size_t i = 0; i <= depth && i < edit_.path.size(); ++i) key += (i ? "." : "") + edit_.path[i];
    return key;
  }

  [[noreturn]] void refuse(size_t at, const std::string& what, const std::string& action) const {
    const std::string_view before = text_.substr(0, at);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t line_begin = before.rfind('\n') + 1;
    fail("RW-RECIPE-040", what, {file_, static_cast<int>(line), static_cast<int>(at - line_begin) + 1}, "a value that is written out at that key",
         action);
  }

  [[noreturn]] void not_written(size_t depth) const {
    fail("RW-RECIPE-041", "'" + key_until(depth) + "' is not written in this file", {file_}, "a key of this file", "correct the key");
  }

  // The value of that segment, nullptr when it is not written here.
  SourceNode* child(SourceNode& node, size_t depth) const {
    const std::string& segment = edit_.path[depth];
    const std::string name = depth == 0 ? "the recipe" : "'" + key_until(depth - 1) + "'";
    if (node.shape == Shape::alias)
      refuse(node.begin, name + " is an alias: what stands behind it is used elsewhere, too", "write its value out here, or change it at its anchor");
    if (node.odd) refuse(node.begin, name + " is written in a way that cannot be changed here", "write it as plain lines of key: value");
    if (node.shape == Shape::map) {
      SourceEntry* entry = node.find(segment);
      return entry ? &entry->value : nullptr;
    }
    if (node.shape == Shape::list) {
      size_t index = 0;
      const auto read = std::from_chars(segment.data(), segment.data() + segment.size(), index);
      if (read.ec == std::errc{} && read.ptr == segment.data() + segment.size() && index < node.items.size()) return &node.items[index];
      refuse(node.begin, name + " is a list of " + std::to_string(node.items.size()) + " elements, and has no '" + segment + "'",
             "correct the index");
    }
    if (!node.is_null()) refuse(node.begin, name + " has a value, and is no map", "give it a map first");
    return nullptr;
  }

  std::string value_text(Place place, Quotes quotes) const {
    const bool as_written = !edit_.written.empty() && (quotes == Quotes::none || edit_.value.kind != Kind::text);
    if (as_written && reads_as(edit_.written, edit_.value, place)) return edit_.written;
    return yaml_text(edit_.value, place, quotes);
  }

  static std::string key_text(const std::string& key, Place place) { return yaml_text(make_text(key), place); }

  // {b: {c: value}} of the segments from `depth` on, without the outermost braces.
  std::string nested_in_braces(size_t depth) const {
    std::string text = value_text(Place::flow, Quotes::none);
    for (size_t i = edit_.path.size(); i-- > depth;)
      text = key_text(edit_.path[i], Place::flow) + ": " + (i + 1 < edit_.path.size() ? "{" + text + "}" : text);
    return text;
  }

  // The same as lines, without the last line end.
  std::string nested_lines(size_t depth, size_t column) const {
    std::string text;
    for (size_t i = depth; i < edit_.path.size(); ++i, column += step_) {
      text += (i == depth ? "" : line_end_) + std::string(column, ' ') + key_text(edit_.path[i], Place::block) + ":";
      if (i + 1 == edit_.path.size()) text += " " + value_text(Place::block, Quotes::none);
    }
    return text;
  }

  std::vector<Cut> at_the_end() const {
    const bool ends_line = text_.empty() || text_.ends_with('\n');
    return {{text_.size(), text_.size(), (ends_line ? "" : line_end_) + nested_lines(0, 0) + (ends_line ? line_end_ : "")}};
  }

  size_t end_of_line(size_t at) const { return std::min(text_.find_first_of("\r\n", at), text_.size()); }

  // A block of text that ends with the file would get a line end of its own by whatever comes behind it.
  bool ends_in_open_text(const SourceNode& map) const {
    const SourceNode* last = &map;
    while (count_of(*last) > 0) last = last->shape == Shape::map ? &last->entries.back().value : &last->items.back();
    return last->style == Style::block_text && last->end == text_.size();
  }

  std::vector<Cut> add_line(const SourceNode& map, size_t depth) const {
    if (ends_in_open_text(map)) {
      const size_t first = map.entries.front().key.begin;
      const std::string column(map.column, ' ');
      return {{first, first, nested_lines(depth, map.column).substr(map.column) + line_end_ + column}};
    }
    const size_t at = end_of_line(map.end);
    return {{at, at, line_end_ + nested_lines(depth, map.column)}};
  }

  std::vector<Cut> add_in_braces(const SourceNode& map, size_t depth) const {
    const bool empty = map.entries.empty();
    const size_t at = empty ? map.content + 1 : map.entries.back().value.end;
    return {{at, at, (empty ? "" : ", ") + nested_in_braces(depth)}};
  }

  // `policy:` or `policy: null` gets its first entry.
  std::vector<Cut> fill_empty(const SourceNode& holder, const SourceNode& node, size_t depth) const {
    const bool below = holder.is_block() && holder.shape == Shape::map && node.style == Style::empty && !node.tagged;
    if (!below) return put(holder, node, "{" + nested_in_braces(depth) + "}");
    const size_t at = end_of_line(node.end);
    return {{at, at, line_end_ + nested_lines(depth, holder.column + step_)}};
  }

  std::vector<Cut> replace(const SourceNode& holder, const SourceNode& node) const {
    const Quotes quotes = node.style == Style::single_quoted ? Quotes::single : node.style == Style::double_quoted ? Quotes::twofold : Quotes::none;
    return put(holder, node, value_text(holder.is_block() ? Place::block : Place::flow, quotes));
  }

  // The value as text at the node's place; its anchor stays, its tag goes.
  std::vector<Cut> put(const SourceNode& holder, const SourceNode& node, const std::string& value) const {
    if (node.tagged && node.anchored) refuse(node.begin, "'" + edit_.key + "' has a tag and an anchor", "remove the tag");
    if (node.style == Style::empty && !node.tagged) {
      const bool has_colon = node.anchored || holder.shape == Shape::list || (node.lead > 0 && text_[node.lead - 1] == ':');
      const bool at_text = node.named < text_.size() && std::string_view(" \t\r\n,]}").find(text_[node.named]) == std::string_view::npos;
      return {{node.named, node.named, (has_colon ? " " : ": ") + value + (at_text ? " " : "")}};
    }
    const size_t from = node.tagged ? node.begin : node.content;
    const size_t behind_mark = node.tagged ? node.lead : node.named;
    const size_t first_line_end = end_of_line(behind_mark);
    if (!node.is_block() || first_line_end >= node.content) return {{from, node.end, value}};
    return {{first_line_end, node.end, ""}, {behind_mark, node.tagged ? node.named : behind_mark, " " + value}};
  }

  // The last entry goes: an empty map or list stays, since a key without a value would be null.
  std::vector<Cut> empty(const SourceNode& holder) const {
    if (&holder == &root_) {
      if (!holder.is_block()) return {{holder.content, holder.end, "{}"}};
      return {line_cut(holder.entries[0].key.begin, holder.end)};
    }
    const std::string braces = holder.shape == Shape::list ? "[]" : "{}";
    const SourceNode& node = holder;
    if (!node.is_block()) return {{node.content, node.end, braces}};
    const size_t first_line_end = end_of_line(node.named);
    if (first_line_end >= node.content) return {{node.content, node.end, braces}};
    return {{first_line_end, end_of_line(node.end), ""}, {node.named, node.named, " " + braces}};
  }

  size_t begin_of_line(size_t at) const { return at == 0 ? 0 : text_.rfind('\n', at - 1) + 1; }
  bool begins_line(size_t at) const {
    const size_t line = begin_of_line(at);
    return text_.substr(line, at - line).find_first_not_of(' ') == std::string_view::npos;
  }

  // Whole lines, with the line end that belongs to them: the one behind, or at the end of the file the one before.
  Cut line_cut(size_t from, size_t to) const {
    const size_t begin = begin_of_line(from), end = end_of_line(to);
    if (end < text_.size()) return {begin, text_.find('\n', end) + 1, ""};
    const size_t before = begin >= line_end_.size() && text_.substr(0, begin).ends_with(line_end_) ? begin - line_end_.size() : begin;
    return {before, end, ""};
  }

  std::vector<Cut> remove_lines(const SourceNode& holder, const SourceNode& node) const {
    const size_t index = index_of(holder, node), from = start_of(holder, index);
    if (begins_line(from)) return {line_cut(from, node.end)};
    // Behind a dash: what follows takes the place, unless a comment stands between.
    const size_t next = index + 1 < count_of(holder) ? start_of(holder, index + 1) : text_.size(), line = end_of_line(node.end);
    const bool comment = next <= line || text_.substr(line, next - line).find('#') != std::string_view::npos;
    return {{from, comment ? line : next, ""}};
  }

  static size_t count_of(const SourceNode& holder) { return holder.shape == Shape::list ? holder.items.size() : holder.entries.size(); }
  static size_t index_of(const SourceNode& holder, const SourceNode& node) {
    for (size_t i = 0; i < holder.items.size(); ++i)
      if (&holder.items[i] == &node) return i;
    for (size_t i = 0; i < holder.entries.size(); ++i)
      if (&holder.entries[i].value == &node) return i;
    return 0;
  }
  static size_t start_of(const SourceNode& holder, size_t index) {
    if (holder.shape == Shape::map) return holder.entries[index].key.begin;
    return holder.is_block() ? holder.dashes[index] : holder.items[index].begin;
  }
  static size_t end_of(const SourceNode& holder, size_t index) {
    return holder.shape == Shape::map ? holder.entries[index].value.end : holder.items[index].end;
  }

  std::vector<Cut> remove_in_brackets(const SourceNode& holder, const SourceNode& node) const {
    const size_t index = index_of(holder, node), end = end_of(holder, index);
    if (index + 1 == count_of(holder)) return {{end_of(holder, index - 1), end, ""}};
    const size_t from = start_of(holder, index), comma = text_.find(',', end);
    size_t next = comma + 1;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    if (begins_line(from) && next < text_.size() && (text_[next] == '\n' || text_[next] == '\r')) return {line_cut(from, next)};
    return {{from, next, ""}};
  }

  std::string_view text_;
  const std::string& file_;
  const TextEdit& edit_;
  SourceNode& root_;
  size_t step_;
  std::string line_end_;
};

}  // namespace

std::string edit_text(std::string_view text, const std::string& file, const TextEdit& edit) {
  const Node before = parse_yaml(text, file);
  const Node* old = find_path(before, edit.path);
  const bool set = edit.action == TextEdit::Action::set;
  if (set && old && identical(*old, edit.value)) return std::string(text);
  SourceNode root = map_source(text, file);
  TextEditor editor(text, file, edit, root);
  std::string changed = with_cuts(text, set ? editor.set() : editor.unset());
  try {
    Node after = parse_yaml(changed, file);
    if (!set && !changed.ends_with('\n') && differs_beside(before, after, edit.path)) {
      changed += text.find("\r\n") == text.npos ? "\n" : "\r\n";  // a block of text that is the last now needs its line's end
      after = parse_yaml(changed, file);
    }
    const Node* now = find_path(after, edit.path);
    const std::optional<std::string> other = differs_beside(before, after, edit.path);
    if (!other && (!set || (now && identical(*now, edit.value)))) return changed;
    fail("RW-RECIPE-040", "'" + edit.key + "' cannot be changed in the text alone" + (other ? ": '" + *other + "' would change with it" : ""),
         old ? old->origin : Origin{file}, "a value that is written out at that key and used nowhere else", "change the file by hand");
  } catch (const Error& error) {
    if (error.parts().code == "RW-RECIPE-040") throw;
    fail("RW-RECIPE-040", "'" + edit.key + "' cannot be changed in the text alone: " + error.parts().what, old ? old->origin : Origin{file},
         "a value that is written out at that key and used nowhere else", "change the file by hand");
  }
}

}  // namespace ringwright::recipe

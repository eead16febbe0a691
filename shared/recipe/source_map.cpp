#include "shared/recipe/source_map.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "shared/recipe/failure.h"
#include "shared/recipe/scalar.h"

namespace ringwright::recipe {
namespace {

using Shape = SourceNode::Shape;
using Style = SourceNode::Style;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The parser says where a node begins; of a block collection without properties that is its first key's or dash's place.
class Outline : public YAML::EventHandler {
 public:
  explicit Outline(size_t offset) : offset_(offset) {}

  SourceNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(node(mark, "", anchor, Shape::scalar)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { add(node(mark, "", 0, Shape::alias)); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    SourceNode scalar = node(mark, tag, anchor, Shape::scalar);
    scalar.style = Style::plain;
    scalar.text = value;
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    open(node(mark, tag, anchor, Shape::list), style);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style) override {
    open(node(mark, tag, anchor, Shape::map), style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  SourceNode node(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Shape shape) const {
    SourceNode made;
    made.shape = shape;
    made.begin = made.content = made.end = offset_ + static_cast<size_t>(std::max(mark.pos, 0));
    made.anchored = anchor != 0;
    made.tagged = !tag.empty() && tag != "?" && tag != "!";
    return made;
  }

  void open(SourceNode collection, YAML::EmitterStyle::value style) {
    collection.style = style == YAML::EmitterStyle::Flow ? Style::flow : Style::block;
    open_.push_back(std::move(collection));
  }

  void close() {
    SourceNode closed = std::move(open_.back());
    open_.pop_back();
    add(std::move(closed));
  }

  void add(SourceNode added) {
    if (open_.empty()) {
      root_ = std::move(added);
      return;
    }
    SourceNode& parent = open_.back();
    if (parent.shape == Shape::list) {
      parent.items.push_back(std::move(added));
    } else if (parent.entries.size() == parent.items.size()) {  // a key waits in items until its value is there
      parent.items.push_back(std::move(added));
    } else {
      parent.entries.push_back({});
      parent.entries.back().key = parent.items.back();
      parent.entries.back().value = std::move(added);
    }
  }

  size_t offset_;
  SourceNode root_;
  std::vector<SourceNode> open_;
};

// Finds where each node ends, by the rules of its style.
class Measure {
 public:
  explicit Measure(std::string_view text) : text_(text) {}

  // `from`: where the text that may belong to the node begins; `indent`: the column of the block that it stands in, -1 at the top.
  void node(SourceNode& node, size_t from, long indent, bool flow) {
    node.lead = node.named = from;
    if (node.shape == Shape::scalar && node.style == Style::empty && !node.anchored && !node.tagged) {
      take_null(node, from);
      return;
    }
    skip_properties(node, flow);
    if (node.shape == Shape::list || node.shape == Shape::map)
      node.is_block() ? block(node) : in_brackets(node);
    else if (node.shape == Shape::alias)
      node.style = Style::plain, node.end = find_any(" \t\r\n,[]{}", node.content);
    else
      scalar(node, indent, flow);
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool is_break(size_t i) const { return i >= text_.size() || text_[i] == '\n' || text_[i] == '\r'; }
  bool is_blank(size_t i) const { return at(i) == ' ' || at(i) == '\t'; }
  size_t find_any(std::string_view characters, size_t from) const { return std::min(text_.find_first_of(characters, from), text_.size()); }
  size_t line_begin(size_t i) const {
    const size_t begin = i == 0 ? 0 : text_.rfind('\n', i - 1) + 1;
    return begin == 0 && text_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : begin;
  }
  size_t line_end(size_t i) const { return find_any("\r\n", i); }
  size_t next_line(size_t i) const { return std::min(text_.find('\n', i), text_.size() - 1) + 1; }

  // Behind blanks, line ends and comments.
  size_t skip_gap(size_t i) const {
    for (; i < text_.size(); ++i) {
      if (at(i) == '#' && (i == 0 || is_blank(i - 1) || is_break(i - 1))) i = line_end(i);
      if (!is_blank(i) && !is_break(i)) break;
    }
    return std::min(i, text_.size());
  }

  // Nothing, or one of the words for it, which the parser does not tell apart.
  void take_null(SourceNode& node, size_t from) const {
    constexpr std::string_view kWords[] = {"~", "null", "Null", "NULL"};
    from = std::min(from, text_.size());  // the parser lets some texts pass that no outline fits
    size_t word = from;
    while (is_blank(word)) ++word;
    const std::string_view written = text_.substr(word, find_any(" \t\r\n,[]{}", word) - word);
    const bool there = std::find(std::begin(kWords), std::end(kWords), written) != std::end(kWords);
    if (!node.anchored && !node.tagged) node.begin = there ? word : from;
    node.content = there ? word : from;
    node.end = node.content + (there ? written.size() : 0);
    if (there) node.style = Style::plain;
  }

  void skip_properties(SourceNode& node, bool flow) {
    while (at(node.content) == '&' || at(node.content) == '!') {
      const size_t end = find_any(flow ? " \t\r\n,]}" : " \t\r\n", node.content);
      const size_t next = skip_gap(end);
      node.end = node.named = end;
      const bool quoted = at(next) == '\'' || at(next) == '"', same_line = line_end(end) >= next && next < text_.size();
      if (node.shape == Shape::scalar && node.text.empty() && !quoted && (flow || !same_line)) {  // nothing stands behind them
        node.style = Style::empty;
        take_null(node, end);
        return;
      }
      node.content = next;
    }
  }

  void block(SourceNode& node) {
    size_t cursor = node.content;
    node.column = node.content - line_begin(node.content);
    if (node.shape == Shape::list) {
      for (SourceNode& item : node.items) {
        const size_t dash = skip_gap(cursor);
        node.odd = node.odd || at(dash) != '-';
        node.dashes.push_back(dash);
        this->node(item, std::min(dash + 1, text_.size()), static_cast<long>(node.column), false);
        cursor = item.end;
      }
    } else {
      for (SourceEntry& entry : node.entries) cursor = this->entry(node, entry, cursor, false);
      node.items.clear();
    }
    node.end = cursor;
  }

  size_t entry(SourceNode& map, SourceEntry& entry, size_t cursor, bool flow) {
    cursor = skip_gap(cursor);
    if (flow && at(cursor) == ',') cursor = skip_gap(cursor + 1);
    map.odd = map.odd || at(cursor) == '?' || entry.key.shape != Shape::scalar;
    node(entry.key, cursor, static_cast<long>(map.column), flow);
    size_t colon = entry.key.end;
    while (is_blank(colon)) ++colon;
    const bool alone = at(colon) != ':';  // {a, b}: keys without values
    map.odd = map.odd || (alone && !flow);
    node(entry.value, alone ? entry.key.end : colon + 1, static_cast<long>(map.column), flow);
    return entry.value.end;
  }

  void in_brackets(SourceNode& node) {
    const char close = node.shape == Shape::list ? ']' : '}';
    if (at(node.content) != (node.shape == Shape::list ? '[' : '{')) node.odd = true;
    size_t cursor = node.content + (node.odd ? 0 : 1);
    if (node.shape == Shape::list) {
      for (SourceNode& item : node.items) {
        this->node(item, item.begin, -1, true);
        cursor = item.end;
      }
    } else {
      for (SourceEntry& entry : node.entries) cursor = this->entry(node, entry, cursor, true);
      node.items.clear();
    }
    node.end = cursor;
    if (node.odd) return;
    for (cursor = skip_gap(cursor); at(cursor) == ',';) cursor = skip_gap(cursor + 1);
    node.odd = at(cursor) != close;
    node.end = std::min(cursor + 1, text_.size());
  }

  void scalar(SourceNode& node, long indent, bool flow) {
    if (node.style == Style::empty) {
      take_null(node, node.content);
      return;
    }
    const char first = at(node.content);
    if (first == '\'')
      node.style = Style::single_quoted, node.end = after_single_quotes(node.content);
    else if (first == '"')
      node.style = Style::double_quoted, node.end = after_double_quotes(node.content);
    else if (!flow && (first == '|' || first == '>'))
      node.style = Style::block_text, node.end = after_block_text(node.content, indent);
    else
      node.style = Style::plain, node.end = flow ? after_plain_in_flow(node.content) : after_plain(node.content, indent);
  }

  size_t after_single_quotes(size_t i) const {
    for (++i; i < text_.size(); ++i) {
      if (at(i) != '\'') continue;
      if (at(i + 1) != '\'') return i + 1;
      ++i;
    }
    return text_.size();
  }

  size_t after_double_quotes(size_t i) const {
    for (++i; i < text_.size(); ++i) {
      if (at(i) == '\\')
        ++i;
      else if (at(i) == '"')
        return i + 1;
    }
    return text_.size();
  }

  // Blank lines at the end count only where the header keeps them (+).
  size_t after_block_text(size_t header, long indent) const {
    const size_t header_end = line_end(header);
    const std::string_view marks = text_.substr(header, find_any(" \t\r\n", header) - header);
    const bool keeps = marks.find('+') != std::string_view::npos;
    size_t end = header_end;
    for (size_t line = next_line(header); line < text_.size(); line = next_line(line)) {
      const size_t first = std::min(text_.find_first_not_of(' ', line), text_.size());
      if (is_break(first)) {
        if (keeps) end = first;
        continue;
      }
      if (static_cast<long>(first - line) <= indent) break;
      end = line_end(line);
    }
    return end;
  }

  // The end of the plain text on this line: before a comment or a colon that ends it.
  size_t plain_end_on_line(size_t from) const {
    const size_t stop = line_end(from);
    size_t i = from;
    while (i < stop && !(at(i) == '#' && i > from && is_blank(i - 1)) && !(at(i) == ':' && (is_blank(i + 1) || is_break(i + 1)))) ++i;
    while (i > from && is_blank(i - 1)) --i;
    return i;
  }

  // A plain text goes on in lines that are indented more than the block it stands in.
  size_t after_plain(size_t from, long indent) const {
    size_t end = plain_end_on_line(from);
    if (end != trimmed_line_end(from)) return end;
    for (size_t line = next_line(from); line < text_.size(); line = next_line(line)) {
      const size_t first = std::min(text_.find_first_not_of(" \t", line), text_.size());
      if (is_break(first)) continue;
      if (at(first) == '#' || static_cast<long>(first - line) <= indent || text_.substr(line, 3) == "---" || text_.substr(line, 3) == "...") break;
      end = plain_end_on_line(first);
      if (end != trimmed_line_end(first)) break;
    }
    return end;
  }

  size_t trimmed_line_end(size_t from) const {
    size_t end = line_end(from);
    while (end > from && is_blank(end - 1)) --end;
    return end;
  }

  size_t after_plain_in_flow(size_t from) const {
    constexpr std::string_view kMarks = ",[]{}";
    size_t i = from;
    for (; i < text_.size() && kMarks.find(at(i)) == std::string_view::npos; ++i) {
      if (at(i) == '#' && i > from && (is_blank(i - 1) || is_break(i - 1))) break;
      if (at(i) == ':' && (is_blank(i + 1) || is_break(i + 1) || kMarks.find(at(i + 1)) != std::string_view::npos)) break;
    }
    while (i > from && (is_blank(i - 1) || is_break(i - 1))) --i;
    return i;
  }

  std::string_view text_;
};

}  // namespace

SourceEntry* SourceNode::find(std::string_view key) {
  for (SourceEntry& entry : entries) {
    if (entry.key.shape != Shape::scalar || entry.key.text != key) continue;
    if (entry.key.style != Style::plain) return &entry;
    const auto read = plain_scalar(entry.key.text, {});
    if (read && read->kind == Kind::text && entry.key.text != "<<") return &entry;
  }
  return nullptr;
}

SourceNode map_source(std::string_view text, const std::string& file) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Outline outline(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
    if (!parser.HandleNextDocument(outline)) return {};
    SourceNode root = outline.take_root();
    Measure(text).node(root, root.begin, -1, false);
    return root;
  } catch (const YAML::Exception& error) {
    fail("RW-RECIPE-002", "the YAML does not parse: " + error.msg, {file, error.mark.line + 1, error.mark.column + 1}, "", "correct the file there");
  }
}

}  // namespace ringwright::recipe

#include "console/gui/recipe/outline.h"

#include <algorithm>

namespace ringwright::gui {
namespace {

bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }

size_t skip_blanks(std::string_view text, size_t at, size_t end) {
  while (at < end && is_blank(text[at])) ++at;
  return at;
}

// Behind a quoted text that begins at `at`; `end` where its quote is not closed in this line.
size_t behind_quotes(std::string_view text, size_t at, size_t end) {
  const char quote = text[at++];
  for (; at < end; ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '\'' && at + 1 < end && text[at + 1] == '\'') {
        ++at;
      } else {
        return at + 1;
      }
    }
  }
  return end;
}

// Where a comment begins: a # at the start or behind a blank, outside of quotes.
size_t find_comment(std::string_view text, size_t at, size_t end) {
  bool starts_word = true;
  while (at < end) {
    if (starts_word && (text[at] == '"' || text[at] == '\'')) {
      at = behind_quotes(text, at, end);
      starts_word = false;
      continue;
    }
    if (text[at] == '#' && (at == 0 || text[at - 1] == '\n' || is_blank(text[at - 1]))) return at;
    starts_word = is_blank(text[at]) || text[at] == '[' || text[at] == '{' || text[at] == ',' || text[at] == ':';
    ++at;
  }
  return end;
}

struct Level {
  int indent;        // column of the keys, or of the dashes
  std::string path;  // of what this level's entries are in
  int items = -1;    // of a list: the index of the last element; -1: a map
  std::string last;  // the path of the last entry
};

class Outliner {
 public:
  explicit Outliner(std::string_view text) : text_(text) {}

  std::vector<OutlineLine> run() {
    size_t begin = 0;
    while (true) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      lines_.push_back(read(begin, end));
      if (end == text_.size()) return std::move(lines_);
      begin = end + 1;
    }
  }

 private:
  OutlineLine read(size_t begin, size_t end) {
    OutlineLine line;
    line.begin = begin, line.end = end;
    if (end > begin && text_[end - 1] == '\r') line.end = --end;
    line.key_begin = line.key_end = line.value_begin = line.value_end = line.comment_begin = end;
    size_t at = skip_blanks(text_, begin, end);
    line.indent = static_cast<int>(at - begin);
    if (block_indent_ >= 0) {
      if (at == end || line.indent > block_indent_) {
        line.block_text = true;
        line.value_begin = begin, line.value_end = end;
        return line;
      }
      block_indent_ = -1;
    }
    line.comment_begin = find_comment(text_, at, end);
    const size_t content_end = line.comment_begin;
    while (at < content_end && text_[at] == '-' && (at + 1 == content_end || is_blank(text_[at + 1]))) {
      add_element(static_cast<int>(at - begin), line);
      at = skip_blanks(text_, at + 1, content_end);
      line.indent = static_cast<int>(at - begin);
    }
    read_entry(line, at, content_end);
    note_block_text(line);
    return line;
  }

  void read_entry(OutlineLine& line, size_t at, size_t end) {
    line.value_begin = at;
    const size_t colon = find_colon(at, end);
    if (colon != std::string_view::npos) {
      line.key_begin = at, line.key_end = colon;
      while (line.key_end > at && is_blank(text_[line.key_end - 1])) --line.key_end;
      add_key(line);
      line.value_begin = skip_blanks(text_, colon + 1, end);
    }
    line.value_end = end;
    while (line.value_end > line.value_begin && is_blank(text_[line.value_end - 1])) --line.value_end;
  }

  // The colon behind a key: not in quotes, brackets or a value.
  size_t find_colon(size_t at, size_t end) const {
    if (at < end && (text_[at] == '"' || text_[at] == '\'')) {
      at = skip_blanks(text_, behind_quotes(text_, at, end), end);
      return at < end && text_[at] == ':' ? at : std::string_view::npos;
    }
    if (at < end && (text_[at] == '[' || text_[at] == '{')) return std::string_view::npos;
    for (; at < end; ++at) {
      if (text_[at] == ':' && (at + 1 == end || is_blank(text_[at + 1]))) return at;
    }
    return std::string_view::npos;
  }

  // Levels deeper than the column are over; a list may stand at the column of the key that it belongs to.
  void leave(int column, bool dash) {
    while (!levels_.empty() && (levels_.back().indent > column || (!dash && levels_.back().items >= 0 && levels_.back().indent >= column)))
      levels_.pop_back();
  }

  static std::string join(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

  void add_element(int column, OutlineLine& line) {
    leave(column, true);
    if (levels_.empty() || levels_.back().items < 0 || levels_.back().indent != column)
      levels_.push_back({column, levels_.empty() ? "" : levels_.back().last, 0, ""});
    else
      ++levels_.back().items;
    line.key = levels_.back().last = join(levels_.back().path, std::to_string(levels_.back().items));
  }

  void add_key(OutlineLine& line) {
    leave(line.indent, false);
    if (levels_.empty() || levels_.back().indent != line.indent) levels_.push_back({line.indent, levels_.empty() ? "" : levels_.back().last, -1, ""});
    std::string name(text_.substr(line.key_begin, line.key_end - line.key_begin));
    if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'')) name = name.substr(1, name.size() - 2);
    line.key = levels_.back().last = join(levels_.back().path, name);
  }

  void note_block_text(const OutlineLine& line) {
    if (line.value_begin >= line.value_end) return;
    const char first = text_[line.value_begin];
    if (first == '|' || first == '>') block_indent_ = levels_.empty() ? 0 : levels_.back().indent;
  }

  std::string_view text_;
  std::vector<OutlineLine> lines_;
  std::vector<Level> levels_;
  int block_indent_ = -1;
};

}  // namespace

std::vector<OutlineLine> outline(std::string_view text) { return Outliner(text).run(); }

size_t line_at(const std::vector<OutlineLine>& lines, size_t offset) {
  const auto after = std::upper_bound(lines.begin(), lines.end(), offset, [](size_t place, const OutlineLine& line) { return place < line.begin; });
  return after == lines.begin() ? 0 : static_cast<size_t>(after - lines.begin()) - 1;
}

std::string key_at(const std::vector<OutlineLine>& lines, size_t offset) {
  if (lines.empty()) return "";
  for (size_t line = line_at(lines, offset) + 1; line-- > 0;) {
    if (!lines[line].key.empty()) return lines[line].key;
    const bool goes_on = lines[line].block_text || lines[line].value_begin < lines[line].value_end;
    if (!goes_on) return "";
  }
  return "";
}

size_t line_of(const std::vector<OutlineLine>& lines, std::string_view key) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!key.empty() && lines[i].key == key) return i;
  }
  return std::string_view::npos;
}

std::string section_for(const std::vector<OutlineLine>& lines, size_t line, int column) {
  for (size_t i = std::min(line, lines.size()); i-- > 0;) {
    if (lines[i].key.empty() || lines[i].key_begin == lines[i].key_end) continue;
    if (lines[i].indent < column) return lines[i].key;
    if (lines[i].indent == column) {
      const size_t dot = lines[i].key.rfind('.');
      return dot == std::string::npos ? "" : lines[i].key.substr(0, dot);
    }
  }
  return "";
}

std::string_view value_of(std::string_view text, const OutlineLine& line) { return text.substr(line.value_begin, line.value_end - line.value_begin); }

}  // namespace ringwright::gui

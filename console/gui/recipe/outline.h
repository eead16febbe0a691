// A recipe's lines as an editor needs them, also while the text is not yet YAML: which key stands where, and what is key, value and comment.
// Places of errors and of values come from the parser (shared/recipe); this is for the caret and the colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::gui {

// Offsets are bytes of the whole text; empty stretches where the line has no such part.
struct OutlineLine {
  size_t begin = 0, end = 0;  // without the line end
  int indent = 0;             // column of the key, behind the dashes
  std::string key;            // dotted, with the indices of lists; "" on a line that begins no key and no element
  size_t key_begin = 0, key_end = 0;
  size_t value_begin = 0, value_end = 0;
  size_t comment_begin = 0;  // end where there is none
  bool block_text = false;   // a line of a | or > text
};

// One entry a line; a text that ends in a line end has an empty last line.
std::vector<OutlineLine> outline(std::string_view text);
// Index of the line that holds the offset.
size_t line_at(const std::vector<OutlineLine>& lines, size_t offset);
// The key of the line, or of the line above whose value goes on there; "" where there is none.
std::string key_at(const std::vector<OutlineLine>& lines, size_t offset);
// The line whose key it is; npos when the text does not write it.
size_t line_of(const std::vector<OutlineLine>& lines, std::string_view key);
// The dotted key of the section that a new key at this column, on this line, would be in.
std::string section_for(const std::vector<OutlineLine>& lines, size_t line, int column);
std::string_view value_of(std::string_view text, const OutlineLine& line);

}  // namespace ringwright::gui

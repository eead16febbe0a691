// What may be written at a place of a recipe: keys from the table of keys, values where a key takes one of a few words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "console/gui/recipe/outline.h"

namespace ringwright::gui {

struct Completion {
  std::string name;
  std::string detail;  // what becomes of the key, or ""
  std::string insert;  // in place of what is there
};

struct CompletionList {
  size_t from = 0, to = 0;  // the bytes that a completion replaces
  std::vector<Completion> items;
};

// Those that begin with what is written before the caret, keys that the section has already left out.
CompletionList completions(std::string_view text, const std::vector<OutlineLine>& lines, size_t caret);
// The words that a key's value is one of; empty where there are other values too.
std::vector<std::string> words_of(const std::string& key);

}  // namespace ringwright::gui

// What Unicode 16, by which the patterns of tokenizer.json are meant, has beyond Unicode 14, which Debian 12's PCRE2 knows.
#pragma once

#include <span>
#include <string_view>

namespace ringwright::tokenizer {

struct CharacterRange {
  char32_t first, last;  // both included
};

struct ClassAdditions {
  std::string_view name;  // as in \p{name}
  std::span<const CharacterRange> ranges;
};

// One row for each class that a pattern may name.
std::span<const ClassAdditions> class_additions();

}  // namespace ringwright::tokenizer

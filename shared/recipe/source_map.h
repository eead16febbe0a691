// Where the values of one YAML file stand in its text, byte by byte, for those who change it there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

struct SourceEntry;

struct SourceNode {
  enum class Shape { scalar, list, map, alias };
  enum class Style { empty, plain, single_quoted, double_quoted, block_text, block, flow };

  Shape shape = Shape::scalar;
  Style style = Style::empty;
  size_t lead = 0;     // behind the colon or dash that it belongs to
  size_t begin = 0;    // its first byte: that of its anchor or tag, where it has one; of an empty value: lead
  size_t named = 0;    // behind anchor and tag, lead where there are none
  size_t content = 0;  // the first byte of the value itself
  size_t end = 0;      // behind its last byte; comments and line ends that follow are not part of it
  size_t column = 0;   // of a block's keys or dashes, from 0
  bool anchored = false;
  bool tagged = false;
  bool odd = false;  // written in a way that this map does not follow: `? key`, a map without braces inside a list in []
  std::string text;  // of a scalar, as YAML reads it
  std::vector<SourceNode> items;
  std::vector<size_t> dashes;  // of a block list, one an item
  std::vector<SourceEntry> entries;

  bool is_null() const { return shape == Shape::scalar && (style == Style::empty || (style == Style::plain && text.empty())); }
  bool is_block() const { return style == Style::block; }
  SourceEntry* find(std::string_view key);  // by a key that is text; nullptr when it is not written here
};

struct SourceEntry {
  SourceNode key;
  SourceNode value;
};

// The text must be one that parse_yaml takes. An empty text gives an empty scalar. Throws Error RW-RECIPE-002.
SourceNode map_source(std::string_view text, const std::string& file);

}  // namespace ringwright::recipe

// A value as YAML that the loader, and upstream's, reads back as the same value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

enum class Quotes { none, single, twofold };  // what a text is written with where it can be; none: quotes only where YAML needs them
enum class Place { block, flow };             // flow: between [] or {}, where fewer texts may stand without quotes

// Lists and maps in flow style, on one line.
std::string yaml_text(const Node& value, Place place, Quotes quotes = Quotes::none);
// Whether the text may stand as it is, without quotes, and is then read as `value`.
bool reads_as(const std::string& written, const Node& value, Place place);
// Equal in kind and value, keys of maps in any order: 1 is not 1.0.
bool identical(const Node& a, const Node& b);

}  // namespace ringwright::recipe

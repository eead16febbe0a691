// One YAML file as a tree of values: syntax, tags, anchors, merge keys, duplicate keys. No inheritance, no interpolation.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "shared/recipe/node.h"

namespace ringwright::recipe {

// Throws Error RW-RECIPE-001 (not readable, or not UTF-8 text).
std::string read_text(const std::filesystem::path& file);
// Throws Error with file:line:column: RW-RECIPE-002 syntax, RW-RECIPE-003 duplicate key, RW-RECIPE-004 tag, anchor or alias,
// RW-RECIPE-005 no map at the top, RW-RECIPE-008 a malformed ${...}, RW-RECIPE-015 beyond a limit.
Node parse_yaml(std::string_view text, const std::string& file_name);

}  // namespace ringwright::recipe

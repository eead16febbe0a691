#pragma once

#include <cstdint>
#include <string_view>

namespace ringwright::text {

// How many brackets stand within each other in a JSON text, without those in its strings: deep ones would exhaust the stack of whoever copies the
// value or writes it again, so they are counted before the text is parsed.
int64_t json_depth(std::string_view text);

}  // namespace ringwright::text

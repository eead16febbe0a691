// What the terminal can show.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace ringwright::cli {

enum class Style { plain, bold, dim, good, warning, bad, accent };

// True where `stream` is a terminal that shows colours and NO_COLOR is unset or empty (no-color.org).
bool colour_on(std::FILE* stream);
// The text in that style, or as it is where stdout shows no colours.
std::string styled(std::string_view text, Style style);
// Columns of the terminal behind stdout; 0 where it is none, that is: do not cut anything.
int terminal_columns();
// Columns that UTF-8 text takes, wide characters counted twice, escape sequences not counted.
int display_width(std::string_view text);
// The text cut to `columns`, with an ellipsis when something is missing.
std::string fit(std::string_view text, int columns);

}  // namespace ringwright::cli

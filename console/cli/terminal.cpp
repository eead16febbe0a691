#include "console/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <utf8proc.h>

#include <array>
#include <cstdlib>

namespace ringwright::cli {
namespace {

// SGR parameters by Style.
constexpr std::array<std::string_view, 7> kStyleParameters = {"", "1", "2", "32", "33", "31", "36"};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

// Bytes and columns of the character at `at`; an escape sequence counts as one character of no width.
struct Glyph {
  size_t bytes;
  int columns;
};

Glyph glyph_at(std::string_view text, size_t at) {
  if (text[at] == '\x1b') {
    const size_t end = text.find('m', at);
    return {end == std::string_view::npos ? text.size() - at : end - at + 1, 0};
  }
  utf8proc_int32_t code_point = -1;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at), static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
  if (bytes <= 0) return {1, 1};
  return {static_cast<size_t>(bytes), utf8proc_charwidth(code_point)};
}

}  // namespace

bool colour_on(std::FILE* stream) {
  if (is_set("NO_COLOR")) return false;
  const char* terminal = std::getenv("TERM");
  return ::isatty(::fileno(stream)) != 0 && terminal && std::string_view(terminal) != "dumb";
}

std::string styled(std::string_view text, Style style) {
  static const bool on = colour_on(stdout);
  if (!on || style == Style::plain) return std::string(text);
  return "\x1b[" + std::string(kStyleParameters[static_cast<size_t>(style)]) + "m" + std::string(text) + "\x1b[0m";
}

int terminal_columns() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

int display_width(std::string_view text) {
  int columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    columns += glyph.columns;
    at += glyph.bytes;
  }
  return columns;
}

std::string fit(std::string_view text, int columns) {
  if (columns <= 0 || display_width(text) <= columns) return std::string(text);
  std::string kept;
  int used = 0;
  bool in_style = false;
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    if (used + glyph.columns > columns - 1) break;
    if (text[at] == '\x1b') in_style = text.substr(at, glyph.bytes) != "\x1b[0m";
    kept.append(text.substr(at, glyph.bytes));
    used += glyph.columns;
    at += glyph.bytes;
  }
  return kept + "…" + (in_style ? "\x1b[0m" : "");
}

}  // namespace ringwright::cli

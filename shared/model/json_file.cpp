#include "shared/model/json_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/base/json_depth.h"
#include "shared/base/text.h"

namespace ringwright::model {
namespace {

constexpr int64_t kNestingMax = 64;

constexpr std::array<std::string_view, 3> kBareNumbers = {"-Infinity", "Infinity", "NaN"};

std::string quote_bare_numbers(std::string_view text) {
  std::string quoted;
  bool inside_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') inside_string = !inside_string;
    if (inside_string && text[i] == '\\' && i + 1 < text.size()) quoted += text[i++];
    const auto* bare =
        inside_string ? kBareNumbers.end()
                      : std::find_if(kBareNumbers.begin(), kBareNumbers.end(), [&](std::string_view b) { return text.substr(i).starts_with(b); });
    if (bare != kBareNumbers.end()) {
      quoted += fmt::format("{{\"__float__\":\"{}\"}}", *bare);
      i += bare->size() - 1;
    } else {
      quoted += text[i];
    }
  }
  return quoted;
}

std::string place_of(const std::string& text, size_t byte, const std::string& file_name) {
  const std::string_view before = std::string_view(text).substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start = before.rfind('\n');
  return fmt::format("{}:{}:{}", file_name, line, before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1);
}

}  // namespace

nlohmann::json parse_json_text(const std::string& text, const std::string& file_name, const std::string& code) {
  if (text::json_depth(text) > kNestingMax)
    throw Error(
        {code, "values are nested too deeply", file_name, fmt::format("at most {} levels", kNestingMax), "is it the right file?", ExitCode::usage});
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    nlohmann::json second = nlohmann::json::parse(quote_bare_numbers(text), nullptr, false);
    if (!second.is_discarded()) return second;
    throw Error(
        {code, "not valid JSON", place_of(text, error.byte, file_name), "a JSON document", "correct the file, or fetch it again", ExitCode::usage});
  } catch (const nlohmann::json::out_of_range&) {
    throw Error(
        {code, "a number is too large", file_name, "numbers within the range of double", "correct the file, or fetch it again", ExitCode::usage});
  }
}

nlohmann::json read_json_file(const std::filesystem::path& file, uint64_t bytes_max, const std::string& code) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(file, error);
  const auto unreadable = [&](const std::string& reason) {
    return Error({code, "the file cannot be read: " + reason, file.string(), "a JSON file", "check the path and its permissions", ExitCode::usage});
  };
  if (!regular) throw unreadable(std::filesystem::exists(file, error) ? "it is no file" : "no such file");
  std::string text;
  try {
    text = files::read_all(file, bytes_max);
  } catch (const std::system_error& fault) {
    if (fault.code() != std::errc::file_too_large) throw unreadable(fault.code().message());
    throw Error({code, "the file is too large", file.string(), "at most " + text::format_bytes(bytes_max), "is it the right file?", ExitCode::usage});
  }
  return parse_json_text(text, file.string(), code);
}

}  // namespace ringwright::model

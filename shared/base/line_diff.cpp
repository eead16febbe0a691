#include "shared/base/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ringwright::text {
namespace {

constexpr size_t kAround = 3;
constexpr size_t kCellsMax = 16 << 20;  // of the table below; beyond it, what differs is shown as one block

struct Line {
  char mark;  // ' ', '-' or '+'
  std::string_view text;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

using Lines = std::vector<std::string_view>;

// Longest common subsequence of a[from..a_end) and b[from..b_end).
void append_changes(const Lines& a, const Lines& b, size_t from, size_t a_end, size_t b_end, std::vector<Line>& script) {
  const size_t rows = a_end - from, columns = b_end - from, width = columns + 1;
  const bool small = rows == 0 || width <= kCellsMax / (rows + 1);
  std::vector<uint32_t> common(small ? (rows + 1) * width : 0);
  if (small)
    for (size_t i = rows; i-- > 0;)
      for (size_t j = columns; j-- > 0;)
        common[i * width + j] =
            a[from + i] == b[from + j] ? common[(i + 1) * width + j + 1] + 1 : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
  size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (small && i < rows && j < columns && a[from + i] == b[from + j])
      script.push_back({' ', a[from + i++]}), ++j;
    else if (i < rows && (j == columns || !small || common[(i + 1) * width + j] >= common[i * width + j + 1]))
      script.push_back({'-', a[from + i++]});
    else
      script.push_back({'+', b[from + j++]});
  }
}

std::vector<Line> edit_script(const Lines& a, const Lines& b) {
  std::vector<Line> script;
  size_t from = 0, a_end = a.size(), b_end = b.size();
  while (from < a_end && from < b_end && a[from] == b[from]) script.push_back({' ', a[from++]});
  while (a_end > from && b_end > from && a[a_end - 1] == b[b_end - 1]) --a_end, --b_end;
  append_changes(a, b, from, a_end, b_end, script);
  for (; a_end < a.size(); ++a_end) script.push_back({' ', a[a_end]});
  return script;
}

std::string range(size_t first, size_t count) {
  if (count == 0) return fmt::format("{},0", first);
  return count == 1 ? fmt::format("{}", first + 1) : fmt::format("{},{}", first + 1, count);
}

std::string hunk(const std::vector<Line>& script, size_t begin, size_t end, size_t a_before, size_t b_before) {
  size_t a_count = 0, b_count = 0;
  std::string body;
  for (size_t i = begin; i < end; ++i) {
    a_count += script[i].mark != '+';
    b_count += script[i].mark != '-';
    body += script[i].mark;
    body += script[i].text;
    if (!script[i].text.ends_with('\n')) body += "\n\\ No newline at end of file\n";
  }
  return "@@ -" + range(a_before, a_count) + " +" + range(b_before, b_count) + " @@\n" + body;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, const std::string& name_before, const std::string& name_after) {
  if (before == after) return "";
  const std::vector<Line> script = edit_script(lines_of(before), lines_of(after));
  std::string diff = "--- " + name_before + "\n+++ " + name_after + "\n";
  size_t a_done = 0, b_done = 0, done = 0;
  for (size_t i = 0; i < script.size();) {
    if (script[i].mark == ' ') {
      ++i;
      continue;
    }
    const size_t begin = std::max(done, i - std::min(i, kAround));
    size_t last = i;
    for (size_t j = i; j < script.size() && j <= last + 2 * kAround + 1; ++j)
      if (script[j].mark != ' ') last = j;
    const size_t end = std::min(script.size(), last + 1 + kAround);
    for (; done < begin; ++done) a_done += script[done].mark != '+', b_done += script[done].mark != '-';
    diff += hunk(script, begin, end, a_done, b_done);
    for (; done < end; ++done) a_done += script[done].mark != '+', b_done += script[done].mark != '-';
    i = end;
  }
  return diff;
}

}  // namespace ringwright::text

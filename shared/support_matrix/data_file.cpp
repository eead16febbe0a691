#include "shared/support_matrix/data_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "shared/base/text_lines.h"

namespace ringwright::support_matrix {

int64_t rows_at_most(const recipe::DataSource& source, const std::filesystem::path& file, int64_t row_length, int64_t mark_tokens, int64_t enough) {
  constexpr int64_t kTokensPerByteMax = 2;  // a byte-level tokenizer makes at most one of a byte, and may put a space in front of each piece
  const bool windows = source.format == "text" && !source.lines_are_rows;
  TextLines lines(file);
  int64_t rows = 0, tokens = 0;
  for (std::string line; rows < enough && lines.next(line);) {
    if (line.empty()) continue;
    tokens += kTokensPerByteMax * static_cast<int64_t>(line.size()) + mark_tokens;
    rows = windows ? tokens / std::max<int64_t>(row_length, 1) : rows + 1;
  }
  return rows;
}

bool holds_chat(const std::filesystem::path& file) {
  TextLines lines(file);
  std::string line;
  bool found = false;
  while ((found = lines.next(line)) && line.find_first_not_of(" \t") == std::string::npos) {
  }
  if (!found) return false;
  const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
  return row.is_object() && row.contains("messages");
}

}  // namespace ringwright::support_matrix

// A run from what text_export.h writes: JSON or JSON lines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shared/exchange/rows.h"

namespace ringwright::exchange {

// A document is kept in memory as a whole, and in JSON lines each line is.
inline constexpr uint64_t kDocumentBytesMax = uint64_t{512} << 20, kLineBytesMax = uint64_t{32} << 20;

// Whether the file begins as JSON does; no for one that cannot be read.
bool begins_like_json(const std::filesystem::path& file);

struct TextExport {
  history::RunRecord run;
  std::vector<std::string> notes;  // what the reader should know of it
};
// Hands every row to `take`, the points of one series in a row, each with the segment that its curve has it from. Throws Error (exit code 2):
// RW-IMPORT-003 not readable, or no export of a run; RW-IMPORT-004 damaged or cut off, with the line or the place in the document; RW-IMPORT-005
// (exit code 5) of a newer version; RW-IMPORT-006 more bytes than are kept in memory. Until it returns, nothing that came is to be trusted.
TextExport read_text_export(const std::filesystem::path& file, const TakeRow& take);

}  // namespace ringwright::exchange

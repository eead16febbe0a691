// Any bytes as an export of a run in JSON or JSON lines: read to its end, or one Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "memory_file.h"
#include "shared/base/error.h"
#include "shared/exchange/row_json.h"
#include "shared/exchange/text_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright::exchange;
  const ringwright::MemoryFile bytes(data, size);
  try {
    const TextExport content = read_text_export(bytes.path(), [](Row&& row) {
      if (file_of(row).empty()) std::abort();
      const auto* series = std::get_if<SeriesPoints>(&row);
      if (series != nullptr && (series->points.empty() || series->metric.empty())) std::abort();
    });
    if (content.run.id.size() != 10) std::abort();
  } catch (const ringwright::Error&) {
  }
  return 0;
}

// Any bytes as an archive of a run: read to its end, or one Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "memory_file.h"
#include "shared/base/error.h"
#include "shared/exchange/row_json.h"
#include "shared/exchange/run_archive.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright::exchange;
  const ringwright::MemoryFile bytes(data, size);
  try {
    const auto run = read_archive(bytes.path(), [](Row&& row) {
      if (file_of(row).empty()) std::abort();
    });
    if (run.id.size() != 10) std::abort();
  } catch (const ringwright::Error&) {
  }
  return 0;
}

// Any bytes as an event file, and as one event without its frame: read, or one Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "memory_file.h"
#include "shared/base/error.h"
#include "shared/tensorboard/event.h"
#include "shared/tensorboard/record_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright::tensorboard;
  try {
    const Event event = decode_event({reinterpret_cast<const char*>(data), size});
    if (decode_event(encode_event(event)).scalars.size() != event.scalars.size()) std::abort();
  } catch (const ringwright::Error&) {
  }
  const ringwright::MemoryFile bytes(data, size);
  try {
    RecordFile file(bytes.path());
    uint64_t read = 0;
    for (std::string record; file.next(record);) {
      read += record.size();
      decode_event(record);
    }
    if (read > size) std::abort();
  } catch (const ringwright::Error&) {
  }
  return 0;
}

// Any bytes: either a header whose tensors cover the data, or one Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "shared/base/error.h"
#include "shared/model/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright::model;
  try {
    const SafetensorsHeader header = parse_safetensors_header({reinterpret_cast<const char*>(data), size}, size, "fuzz");
    uint64_t covered = header.data_offset;
    for (const TensorEntry& tensor : header.tensors) covered += tensor.end - tensor.begin;
    if (covered != size) std::abort();
  } catch (const ringwright::Error&) {
  }
  return 0;
}

// Any bytes as header and body frames: either they are read, and the body can be written and printed again, or one Error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "shared/base/error.h"
#include "shared/wire/message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright::wire;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view header = bytes.substr(0, std::min(size, kHeaderBytes));
  try {
    Event event;
    decode_header(header, event);
    if (encode_header(event) != header) std::abort();
  } catch (const ringwright::Error&) {
  }
  try {
    const nlohmann::json body = decode_body(bytes.substr(header.size()));
    if (!body.is_object()) std::abort();
    if (decode_body(encode_body(body)).dump() != body.dump()) std::abort();
  } catch (const ringwright::Error&) {
  }
  return 0;
}

// The checksum of TensorFlow's record files: CRC-32C (Castagnoli's polynomial, RFC 3720 appendix B.4), turned and shifted so that data that hold
// checksums themselves have a good one too.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringwright::tensorboard {

uint32_t crc32c(std::string_view bytes);
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace ringwright::tensorboard

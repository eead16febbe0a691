#include "shared/tensorboard/wire_format.h"

#include "shared/base/error.h"

namespace ringwright::tensorboard {
namespace {

constexpr int kVarintBytesMax = 10;
constexpr int kTypeBits = 3;

Error malformed(const std::string& what) {
  return Error(
      {"RW-TB-003", "an event is no message: " + what, "", "Protocol Buffers as TensorBoard's writers make them", "take another copy of the file"});
}

std::string_view take(std::string_view& bytes, uint64_t count) {
  if (count > bytes.size()) throw malformed("it ends within a field");
  const std::string_view taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return taken;
}

}  // namespace

uint64_t MessageReader::take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int i = 0; i < kVarintBytesMax; ++i) {
    const auto byte = static_cast<unsigned char>(take(bytes, 1).front());
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (!(byte & 0x80)) return value;
  }
  throw malformed("a number has more than 10 bytes");
}

std::optional<MessageField> MessageReader::next() {
  if (rest_.empty()) return std::nullopt;
  const uint64_t key = take_varint(rest_);
  MessageField field;
  if (key >> kTypeBits == 0 || key >> kTypeBits > UINT32_MAX >> kTypeBits) throw malformed("a field has a number that no field can have");
  field.number = static_cast<uint32_t>(key >> kTypeBits);
  field.type = static_cast<WireType>(key & ((1 << kTypeBits) - 1));
  switch (field.type) {
    case WireType::varint:
      field.integer = take_varint(rest_);
      break;
    case WireType::fixed64:
      field.integer = read_little_endian<uint64_t>(take(rest_, sizeof(uint64_t)));
      break;
    case WireType::fixed32:
      field.integer = read_little_endian<uint32_t>(take(rest_, sizeof(uint32_t)));
      break;
    case WireType::bytes:
      field.bytes = take(rest_, take_varint(rest_));
      break;
    default:
      throw malformed("a field of a type that is not in use");
  }
  return field;
}

void MessageWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) message_ += static_cast<char>(value | 0x80);
  message_ += static_cast<char>(value);
}

void MessageWriter::key(uint32_t number, WireType type) { varint(uint64_t{number} << kTypeBits | static_cast<uint64_t>(type)); }

MessageWriter& MessageWriter::integer(uint32_t number, uint64_t value) {
  key(number, WireType::varint);
  varint(value);
  return *this;
}

MessageWriter& MessageWriter::number(uint32_t number, double value) {
  key(number, WireType::fixed64);
  message_ += little_endian(value);
  return *this;
}

MessageWriter& MessageWriter::number(uint32_t number, float value) {
  key(number, WireType::fixed32);
  message_ += little_endian(value);
  return *this;
}

MessageWriter& MessageWriter::bytes(uint32_t number, std::string_view value) {
  key(number, WireType::bytes);
  varint(value.size());
  message_ += value;
  return *this;
}

}  // namespace ringwright::tensorboard

// Protocol Buffers' wire format (protobuf.dev, "Encoding"), as far as TensorBoard's events need it: fields of a message one after the other.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace ringwright::tensorboard {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

template <class Number>
std::string little_endian(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// Of exactly sizeof(Number) bytes or more.
template <class Number>
Number read_little_endian(std::string_view bytes) {
  Number value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

enum class WireType : int { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct MessageField {
  uint32_t number = 0;
  WireType type = WireType::varint;
  uint64_t integer = 0;    // varint; the bits of fixed64 and fixed32
  std::string_view bytes;  // of type bytes: a text, a message, packed numbers

  double as_double() const { return std::bit_cast<double>(integer); }
  float as_float() const { return std::bit_cast<float>(static_cast<uint32_t>(integer)); }
};

class MessageReader {
 public:
  explicit MessageReader(std::string_view message) : rest_(message) {}
  // Nothing at the end. Throws Error RW-TB-003 (exit code 2) for bytes that are no message.
  std::optional<MessageField> next();
  // A number of this packed or single field.
  static uint64_t take_varint(std::string_view& bytes);

 private:
  std::string_view rest_;
};

class MessageWriter {
 public:
  MessageWriter& integer(uint32_t number, uint64_t value);
  MessageWriter& number(uint32_t number, double value);
  MessageWriter& number(uint32_t number, float value);
  MessageWriter& bytes(uint32_t number, std::string_view value);
  const std::string& message() const { return message_; }

 private:
  void varint(uint64_t value);
  void key(uint32_t number, WireType type);

  std::string message_;
};

}  // namespace ringwright::tensorboard

// Texts that a frame puts together anew. They lie on the stack, so that a frame which shows what the one before showed asks for no memory.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

namespace ringwright::gui {

// fmt::format without a heap, up to some 250 bytes.
class ShortText {
 public:
  template <typename... Values>
  explicit ShortText(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    buffer_.push_back('\0');
  }
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    buffer_.resize(buffer_.size() - 1);
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    buffer_.push_back('\0');
  }
  std::string_view view() const { return {buffer_.data(), buffer_.size() - 1}; }
  operator std::string_view() const { return view(); }
  const char* c_str() const { return buffer_.data(); }

 private:
  fmt::basic_memory_buffer<char, 250> buffer_;
};

}  // namespace ringwright::gui

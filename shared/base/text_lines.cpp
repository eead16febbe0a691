#include "shared/base/text_lines.h"

#include <cerrno>
#include <string_view>
#include <system_error>

namespace ringwright {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void throw_errno(const std::filesystem::path& file) {
  throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), file.string());
}

}  // namespace

TextLines::TextLines(const std::filesystem::path& file) : file_(file) {
  errno = 0;
  stream_.open(file);
  if (!stream_) throw_errno(file);
}

bool TextLines::next(std::string& line) {
  errno = 0;
  std::getline(stream_, line);
  if (stream_.bad()) throw_errno(file_);  // not the same as the file's end
  if (!stream_) return false;
  if (++number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

}  // namespace ringwright

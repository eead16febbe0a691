#include "daemon/service/captured_output.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shared/base/text.h"

namespace ringwright::service {

void LineSplitter::feed(std::string_view bytes, const std::function<void(std::string)>& line) {
  while (!bytes.empty()) {
    const size_t end = bytes.find_first_of("\r\n");
    const size_t length = std::min(end, bytes.size());
    const size_t taken = std::min(length, kLineBytesMax - rest_.size());
    rest_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (taken < length) ++lines_cut_;
    if (taken == length && end == std::string_view::npos) return;
    if (taken == length) bytes.remove_prefix(1);
    finish(line);
  }
}

void LineSplitter::finish(const std::function<void(std::string)>& line) {
  if (!rest_.empty()) line(text::valid_utf8(std::move(rest_)));
  rest_.clear();
}

RankLog::RankLog(std::filesystem::path file) : file_(std::move(file)) {
  fd_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

RankLog::~RankLog() {
  if (fd_ >= 0) ::close(fd_);
}

void RankLog::write(std::string_view line) {
  if (last_lines_.size() >= kLastLinesMax) last_lines_.pop_front();
  last_lines_.emplace_back(line);
  if (bytes_ + line.size() > kRankLogBytesMax) rotate();
  char end = '\n';
  const iovec parts[] = {{const_cast<char*>(line.data()), line.size()}, {&end, 1}};
  const ssize_t written = fd_ < 0 ? -1 : ::writev(fd_, parts, 2);
  if (written == static_cast<ssize_t>(line.size() + 1))
    bytes_ += line.size() + 1;
  else
    ++write_failures_;
}

void RankLog::rotate() {
  if (fd_ >= 0) ::close(fd_);
  std::error_code ignored;
  std::filesystem::rename(file_, file_.string() + ".1", ignored);
  fd_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  bytes_ = 0;
}

}  // namespace ringwright::service

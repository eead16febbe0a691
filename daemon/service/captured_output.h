// What a worker writes to standard output and error: cut into lines of bounded length, and kept in rank<r>.log.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace ringwright::service {

inline constexpr size_t kLineBytesMax = 8 << 10;
inline constexpr uint64_t kRankLogBytesMax = 16 << 20;  // then it becomes rank<r>.log.1
inline constexpr size_t kLastLinesMax = 20;

// Bytes in, lines out. A line ends with \n or \r; one longer than kLineBytesMax is handed on in pieces. Every line is valid UTF-8; empty ones are
// left out.
class LineSplitter {
 public:
  void feed(std::string_view bytes, const std::function<void(std::string)>& line);
  // What came without a line's end.
  void finish(const std::function<void(std::string)>& line);
  uint64_t lines_cut() const { return lines_cut_; }

 private:
  std::string rest_;
  uint64_t lines_cut_ = 0;
};

// A rank's log file and the last lines of it. A file that cannot be written is counted and does not stop anything.
class RankLog {
 public:
  explicit RankLog(std::filesystem::path file);
  ~RankLog();
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;

  void write(std::string_view line);
  const std::deque<std::string>& last_lines() const { return last_lines_; }
  uint64_t write_failures() const { return write_failures_; }

 private:
  void rotate();

  std::filesystem::path file_;
  int fd_ = -1;
  uint64_t bytes_ = 0, write_failures_ = 0;
  std::deque<std::string> last_lines_;
};

}  // namespace ringwright::service

// Knows whether the daemon that started this process is still there, and ends the process, with all that it has started, when it is not.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>

namespace ringwright::worker {

class OrphanWatch {
 public:
  OrphanWatch(double grace_s, std::filesystem::path last_words_file);

  void pinged() { pinged_at_ = std::chrono::steady_clock::now(); }
  bool daemon_gone() const { return gone_at_.has_value(); }
  // Looks, and does not return once the grace time is over.
  void check();

 private:
  bool looks_gone() const;
  [[noreturn]] void end_process() const;

  std::chrono::duration<double> grace_;
  std::filesystem::path last_words_file_;
  pid_t parent_, daemon_;
  std::chrono::steady_clock::time_point pinged_at_ = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> gone_at_;
};

}  // namespace ringwright::worker

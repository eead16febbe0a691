// A ringwrightd in a temporary folder, for measuring.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "shared/wire/control.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::bench {

class BenchDaemon {
 public:
  // `base`: where the temporary folder is made. `worker`: the worker program.
  BenchDaemon(const std::filesystem::path& base, const std::string& worker);
  ~BenchDaemon();
  BenchDaemon(const BenchDaemon&) = delete;
  BenchDaemon& operator=(const BenchDaemon&) = delete;

  pid_t pid() const { return pid_; }
  wire::Endpoints endpoints() const { return wire::endpoints_in(folder_ / "r"); }
  std::filesystem::path store() const { return folder_ / "s" / "history.db"; }
  double ready_ms() const { return ready_ms_; }       // from fork to the first answer
  double memory_mib(const std::string& field) const;  // a line of /proc/<pid>/status: VmRSS, VmHWM
  double cpu_seconds() const;

 private:
  test::TemporaryFolder folder_;
  pid_t pid_ = -1;
  double ready_ms_ = 0;
};

}  // namespace ringwright::bench

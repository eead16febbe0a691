#include "tests/bench/daemon/bench_daemon.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "shared/base/error.h"

namespace ringwright::bench {

using Clock = std::chrono::steady_clock;

BenchDaemon::BenchDaemon(const std::filesystem::path& base, const std::string& worker) : folder_(base) {
  std::vector<std::string> words = {RINGWRIGHT_BINARY_DIR "/ringwrightd",
                                    "--foreground",
                                    "--log-level",
                                    "warn",
                                    "--store",
                                    store().string(),
                                    "--runtime-dir",
                                    (folder_ / "r").string(),
                                    "--worker",
                                    worker};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const auto start = Clock::now();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  while (true) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) throw std::runtime_error("ringwrightd ended at once");
    try {
      wire::ControlClient(endpoints()).request("hello");
      break;
    } catch (const Error&) {
      if (Clock::now() - start > std::chrono::seconds(20)) throw;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  ready_ms_ = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

BenchDaemon::~BenchDaemon() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

double BenchDaemon::memory_mib(const std::string& field) const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  return 0;
}

double BenchDaemon::cpu_seconds() const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/stat");
  std::string text;
  std::getline(in, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  double ticks = 0;
  for (int i = 3; fields >> field; ++i)
    if (i == 14 || i == 15) ticks += std::stod(field);  // utime, stime (proc(5))
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace ringwright::bench

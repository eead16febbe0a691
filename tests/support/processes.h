// Processes as the system lists them.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace ringwright::test {

// As in proc(5): R, S, D, Z, T, ...; 0 when there is no such process.
inline char state_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(in, text)) return 0;
  const size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? '\0' : text.substr(name_end + 2, 1)[0];
}

// Neither running nor asleep: gone, or a zombie that nobody reaps.
inline bool gone(pid_t pid) {
  const char state = state_of(pid);
  return state == 0 || state == 'Z';
}

// Those whose command line holds each of `parts`; its words are separated, and the last one is ended, by a zero byte.
inline std::vector<pid_t> processes_with(const std::vector<std::string>& parts) {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!std::isdigit(static_cast<unsigned char>(name[0]))) continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(in), {}};
    const auto holds = [&](const std::string& part) { return line.find(part) != std::string::npos; };
    if (std::all_of(parts.begin(), parts.end(), holds)) pids.push_back(std::stoi(name));
  }
  return pids;
}

// The workers of a run, or one rank of them. `run`: its id, or a folder that its files lie in.
inline std::vector<pid_t> worker_processes(const std::string& run, int rank = -1) {
  std::vector<std::string> parts = {run, "/spec.json"};
  if (rank >= 0) parts.push_back(std::string("--rank") + '\0' + std::to_string(rank) + '\0');
  return processes_with(parts);
}

// A line of /proc/PID/status: VmRSS (memory now), VmHWM (its peak); 0 when there is no such process.
inline double memory_mib(pid_t pid, const std::string& field) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) / 1024;
  return 0;
}

// Of all its threads, in user and in system mode.
inline double cpu_seconds(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text, field;
  std::getline(in, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  double ticks = 0;
  for (int i = 3; fields >> field; ++i)
    if (i == 14 || i == 15) ticks += std::stod(field);  // utime, stime (proc(5))
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace ringwright::test

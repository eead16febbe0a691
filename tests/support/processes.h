// Processes as the system lists them.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
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

}  // namespace ringwright::test

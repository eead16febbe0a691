#include "shared/base/process_tree.h"

#include <sys/prctl.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace ringwright {
namespace {

// proc(5): "pid (name) state parent ..."; the name may hold anything, also a parenthesis.
bool read_entry(const std::filesystem::path& folder, ProcessEntry& entry) {
  std::ifstream in(folder / "stat");
  std::string text;
  if (!std::getline(in, text)) return false;
  const size_t name_end = text.rfind(')');
  char state = 0;
  int parent = 0;
  if (name_end == std::string::npos || std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) != 2) return false;
  entry = {std::stoi(folder.filename().string()), parent, state == 'Z' || state == 'X'};
  return true;
}

}  // namespace

std::vector<ProcessEntry> list_processes() {
  std::vector<ProcessEntry> processes;
  std::error_code failure;
  for (auto folder = std::filesystem::directory_iterator("/proc", failure); folder != std::filesystem::directory_iterator();
       folder.increment(failure)) {
    if (failure) break;
    const std::string name = folder->path().filename().string();
    ProcessEntry entry{};
    if (std::isdigit(static_cast<unsigned char>(name[0])) && read_entry(folder->path(), entry)) processes.push_back(entry);
  }
  return processes;
}

std::vector<pid_t> running_descendants(const std::vector<ProcessEntry>& processes, pid_t ancestor) {
  std::vector<pid_t> found;
  const auto add_children = [&](pid_t parent) {
    for (const ProcessEntry& process : processes)
      if (process.parent == parent && !process.ended) found.push_back(process.pid);
  };
  add_children(ancestor);
  for (size_t i = 0; i < found.size(); ++i) add_children(found[i]);
  return found;
}

void adopt_orphans_below() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) throw std::system_error(errno, std::generic_category(), "PR_SET_CHILD_SUBREAPER");
}

}  // namespace ringwright

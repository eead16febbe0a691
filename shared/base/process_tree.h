// Which process is whose child, as /proc has it.
#pragma once

#include <sys/types.h>

#include <vector>

namespace ringwright {

struct ProcessEntry {
  pid_t pid, parent;
  bool ended;  // a zombie: nothing runs any more
};

// All that can be seen. One that ends while it is read is left out.
std::vector<ProcessEntry> list_processes();

// What runs below `ancestor`: its children, their children, and so on, each behind its parent.
std::vector<pid_t> running_descendants(const std::vector<ProcessEntry>& processes, pid_t ancestor);

// From now on a process below this one whose parent ends becomes a child of this one (PR_SET_CHILD_SUBREAPER), whatever session or process group it
// has moved to, so that running_descendants() finds it. Throws std::system_error when the kernel refuses.
void adopt_orphans_below();

}  // namespace ringwright

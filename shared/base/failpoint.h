// Named places at which a test ends the process as SIGKILL would: RINGWRIGHT_FAILPOINT=history.before_commit:3 does so when that place is passed for
// the third time. Without the variable a place costs one load of a flag.
#pragma once

#include <atomic>
#include <string>

namespace ringwright {

// Every place, in the order in which an event passes them.
inline constexpr const char* kFailpoints[] = {
    "history.migrate",        // a migration's statements have run, its commit has not
    "history.in_batch",       // half of a batch has been turned into rows
    "history.before_commit",  // all of it
    "history.after_commit",   // committed, nobody told
    "daemon.before_acknowledge",
    "daemon.before_publish",  // the sender knows, the subscribers do not
    "daemon.after_publish",
};

namespace failpoints {
extern std::atomic<bool> armed;
// "NAME:COUNT"; what is no place of ours, or no count, is an Error RW-BASE-010. Empty: none.
void arm(const std::string& place_and_count);
void pass(const char* name);
}  // namespace failpoints

inline void failpoint(const char* name) {
  if (failpoints::armed.load(std::memory_order_relaxed)) failpoints::pass(name);
}

}  // namespace ringwright

// What the system allows a process to have.
#pragma once

#include <cstdint>

namespace ringwright::resources {

// Raises the soft limit of open files (RLIMIT_NOFILE) to the hard one, as far as that is of use. Throws Error RW-LIMIT-001 (exit code 3) when fewer
// than `needed` may be open even then.
void allow_open_files(uint64_t needed);

}  // namespace ringwright::resources

#include "shared/base/resources.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "shared/base/error.h"

namespace ringwright::resources {
namespace {

constexpr rlim_t kOfUseMax = 65'536;

}  // namespace

void allow_open_files(uint64_t needed) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, std::max(kOfUseMax, rlim_t{needed}));
  if (limit.rlim_cur < wanted) {
    const rlimit raised{wanted, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = wanted;
  }
  if (limit.rlim_cur >= needed) return;
  throw Error({"RW-LIMIT-001", "only " + std::to_string(limit.rlim_cur) + " files may be open at once (RLIMIT_NOFILE)", "this process",
               std::to_string(needed) + " or more",
               "raise the hard limit: ulimit -Hn in the shell that starts it, LimitNOFILE= of a systemd unit, or limits.conf", ExitCode::refused});
}

}  // namespace ringwright::resources

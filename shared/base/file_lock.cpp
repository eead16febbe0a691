#include "shared/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ringwright::files {

Lock::Lock(const std::filesystem::path& file) : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), file.string());
  while (::flock(descriptor_, LOCK_EX) != 0)
    if (errno != EINTR) break;  // a file system without locks
}

Lock::~Lock() { ::close(descriptor_); }

}  // namespace ringwright::files

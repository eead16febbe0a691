#include "shared/base/leftovers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ringwright::files {
namespace {

bool is_still(int descriptor, const std::filesystem::path& path) {
  struct stat opened{}, there{};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

bool is_own(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) && status.st_uid == ::geteuid();
}

}  // namespace

bool claim(int descriptor, const std::filesystem::path& path) {
  while (::flock(descriptor, LOCK_EX) != 0)
    if (errno != EINTR) return true;
  return is_still(descriptor, path);
}

void sweep(const std::filesystem::path& folder, const std::function<bool(const std::string& name)>& is_one) {
  std::error_code ignored;
  for (auto entry = std::filesystem::directory_iterator(folder, ignored); entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
    const std::filesystem::path& path = entry->path();
    if (!is_one(path.filename().string())) continue;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (is_own(descriptor) && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(path, ignored);
    ::close(descriptor);
  }
}

}  // namespace ringwright::files

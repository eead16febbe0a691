#include "shared/base/host.h"

#include <unistd.h>

#include <system_error>

namespace ringwright::host {

std::string node_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

uint64_t memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) : 0;
}

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace ringwright::host

#include "shared/base/host.h"

#include <unistd.h>

#include <system_error>

namespace ringwright::host {

std::string node_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace ringwright::host

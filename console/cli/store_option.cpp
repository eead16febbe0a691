#include "console/cli/store_option.h"

#include "shared/base/paths.h"

namespace ringwright::cli {

std::filesystem::path StoreOption::path() const { return file.empty() ? paths::default_store() : std::filesystem::path(file); }

bool StoreOption::is_unused() const {
  std::error_code ignored;
  return file.empty() && !std::filesystem::exists(path(), ignored);
}

}  // namespace ringwright::cli

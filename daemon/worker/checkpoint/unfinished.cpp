#include "daemon/worker/checkpoint/unfinished.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "daemon/worker/checkpoint/durable_file.h"

namespace ringwright::worker {
namespace {

int open_folder(const std::filesystem::path& folder) { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

// Not tmp_step_N.old, which may be the only copy of an earlier checkpoint.
bool is_unfinished(const std::string& name) {
  const std::string_view prefix = kUnfinishedPrefix;
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

UnfinishedFolder::UnfinishedFolder(std::filesystem::path folder) : folder_(std::move(folder)), descriptor_(-1) {
  std::error_code failure;
  std::filesystem::remove_all(folder_, failure);
  std::filesystem::create_directories(folder_, failure);
  if (failure) throw_save_error(folder_, failure.value());
  descriptor_ = open_folder(folder_);
  if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX | LOCK_NB);
}

UnfinishedFolder::~UnfinishedFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void remove_abandoned_folders(const std::filesystem::path& directory) {
  std::error_code failure;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure))
    if (is_unfinished(entry.path().filename().string())) folders.push_back(entry.path());
  for (const std::filesystem::path& folder : folders) {
    const int descriptor = open_folder(folder);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) std::filesystem::remove_all(folder, failure);
    ::close(descriptor);
  }
}

}  // namespace ringwright::worker

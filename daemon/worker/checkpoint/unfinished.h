// Folders of checkpoints that are being written, told from those that a killed process has left.
#pragma once

#include <filesystem>

namespace ringwright::worker {

inline constexpr const char* kUnfinishedPrefix = "tmp_step_";

// <directory>/tmp_step_N, made empty, and locked (flock) as long as this lives.
class UnfinishedFolder {
 public:
  // Throws Error RW-CKPT-005 when it cannot be made.
  explicit UnfinishedFolder(std::filesystem::path folder);
  ~UnfinishedFolder();
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  const std::filesystem::path& path() const { return folder_; }

 private:
  std::filesystem::path folder_;
  int descriptor_;
};

// Removes every tmp_step_N in `directory` that no process is writing.
void remove_abandoned_folders(const std::filesystem::path& directory);

}  // namespace ringwright::worker

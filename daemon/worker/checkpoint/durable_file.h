// Files that are complete on the disk once the call has returned.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace ringwright::worker {

// A new file, written from start to end. Every failure is Error RW-CKPT-005 with the system's reason and the way out.
class DurableFile {
 public:
  explicit DurableFile(const std::filesystem::path& file);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();
  void write(const void* data, uint64_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void finish();  // fsync and close

 private:
  std::filesystem::path file_;
  int descriptor_;
};

[[noreturn]] void throw_save_error(const std::filesystem::path& place, int error_number);
void copy_durably(const std::filesystem::path& from, const std::filesystem::path& to);
void sync_directory(const std::filesystem::path& directory);
// Puts the folder `fresh` at `place`; what was there is removed after the exchange.
void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& place);

}  // namespace ringwright::worker

#include "daemon/worker/checkpoint/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

constexpr size_t kCopyBytes = 1 << 20;

}  // namespace

void throw_save_error(const std::filesystem::path& place, int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  throw Error({"RW-CKPT-005", std::string("the checkpoint cannot be written: ") + std::strerror(error_number), place.string(),
               "a writable folder with enough space",
               full ? "free some space, or set checkpointing.checkpoint_dir to another disk; earlier checkpoints are untouched"
                    : "check the folder's permissions, or set checkpointing.checkpoint_dir; earlier checkpoints are untouched",
               ExitCode::run_failed});
}

DurableFile::DurableFile(const std::filesystem::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw_save_error(file_, errno);
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DurableFile::write(const void* data, uint64_t bytes) {
  for (const auto* next = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t written = ::write(descriptor_, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_save_error(file_, errno);
    next += written, bytes -= static_cast<uint64_t>(written);
  }
}

void DurableFile::finish() {
  if (::fsync(descriptor_) != 0) throw_save_error(file_, errno);
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) throw_save_error(file_, errno);
}

void copy_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::ifstream source(from, std::ios::binary);
  if (!source) throw_save_error(from, errno != 0 ? errno : EIO);
  DurableFile target(to);
  std::vector<char> buffer(kCopyBytes);
  while (source.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), source.gcount() > 0)
    target.write(buffer.data(), static_cast<uint64_t>(source.gcount()));
  target.finish();
}

void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw_save_error(directory, errno);
  const int status = ::fsync(descriptor), error_number = errno;
  ::close(descriptor);
  if (status != 0) throw_save_error(directory, error_number);
}

void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& place) {
  std::error_code ignored;
  if (::rename(fresh.c_str(), place.c_str()) == 0) return sync_directory(place.parent_path());  // nothing there, or an empty folder
  if (errno != EEXIST && errno != ENOTEMPTY) throw_save_error(place, errno);
  std::filesystem::path old = fresh;
  old += ".old";
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) {
    old = fresh;
  } else {  // a file system that cannot exchange: two steps, and back if the second fails
    if (::rename(place.c_str(), old.c_str()) != 0) throw_save_error(place, errno);
    if (::rename(fresh.c_str(), place.c_str()) != 0) {
      const int error_number = errno;
      std::filesystem::rename(old, place, ignored);
      throw_save_error(place, error_number);
    }
  }
  sync_directory(place.parent_path());
  std::filesystem::remove_all(old, ignored);
}

}  // namespace ringwright::worker

#include "shared/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "shared/base/leftovers.h"

namespace ringwright::files {
namespace {

[[noreturn]] void throw_errno(const std::filesystem::path& file) { throw std::system_error(errno, std::generic_category(), file.string()); }

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& file, int flags = O_RDONLY) : descriptor_(::open(file.c_str(), flags | O_CLOEXEC)) {
    if (descriptor_ < 0) throw_errno(file);
  }
  ~Descriptor() { ::close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) throw_errno(file);
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
}

// Of a process of this machine that is gone: "<start>PID-NUMBER".
bool is_leftover(const std::string& name, const std::string& start) {
  int process = 0, number = 0, length = 0;
  if (!name.starts_with(start) || std::sscanf(name.c_str() + start.size(), "%d-%d%n", &process, &number, &length) != 2) return false;
  if (start.size() + static_cast<size_t>(length) != name.size() || process <= 0) return false;
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

// A file of its own name beside the one that it will replace; removed unless it has taken that place.
class FreshFile {
 public:
  explicit FreshFile(const std::filesystem::path& place) : place_(place) {
    constexpr int kAttemptsMax = 100;
    const std::string start = fmt::format(".{}.", place.filename().string());
    sweep(place.parent_path().empty() ? "." : place.parent_path(), [&](const std::string& name) { return is_leftover(name, start); });
    for (int i = 0; descriptor_ < 0; ++i) {
      fresh_ = place.parent_path() / fmt::format("{}{}-{}", start, ::getpid(), i);
      descriptor_ = ::open(fresh_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && (errno != EEXIST || i == kAttemptsMax)) throw_errno(place);
      if (descriptor_ >= 0 && !claim(descriptor_, fresh_)) ::close(std::exchange(descriptor_, -1));
    }
  }
  ~FreshFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!fresh_.empty()) ::unlink(fresh_.c_str());
  }
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;

  // As the file that it will replace has them, as far as this user may: root gives files away, others to a group of theirs.
  void take_owner_and_mode(const struct stat& status) {
    if (::fchown(descriptor_, status.st_uid, status.st_gid) != 0) (void)!::fchown(descriptor_, static_cast<uid_t>(-1), status.st_gid);
    if (::fchmod(descriptor_, status.st_mode & 07777) != 0) throw_errno(place_);
  }

  void write(std::string_view bytes) { write_all(descriptor_, bytes, place_); }

  void take_place() {
    if (::fsync(descriptor_) != 0) throw_errno(place_);
    if (::rename(fresh_.c_str(), place_.c_str()) != 0) throw_errno(place_);  // claimed until then
    fresh_.clear();
    ::close(std::exchange(descriptor_, -1));
  }

 private:
  std::filesystem::path place_, fresh_;
  int descriptor_ = -1;
};

// So that the new name is there after a crash, too. Not every file system can; the bytes are safe either way.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

std::string kind_if_not_regular(const std::filesystem::path& file) {
  using std::filesystem::file_type;
  constexpr std::array<std::pair<file_type, const char*>, 5> kKinds = {{{file_type::directory, "a folder"},
                                                                        {file_type::fifo, "a pipe"},
                                                                        {file_type::character, "a device"},
                                                                        {file_type::block, "a device"},
                                                                        {file_type::socket, "a socket"}}};
  std::error_code ignored;
  const file_type type = std::filesystem::status(file, ignored).type();
  for (const auto& [known, name] : kKinds)
    if (known == type) return name;
  return "";
}

std::string read_all(const std::filesystem::path& file, uint64_t bytes_max) {
  const Descriptor descriptor(file);
  constexpr size_t kChunkBytes = 1 << 16;
  std::string bytes;
  for (size_t count = 0;;) {
    bytes.resize(count + kChunkBytes + count / 2);
    const ssize_t got = ::read(descriptor.get(), bytes.data() + count, bytes.size() - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(file);
    count += static_cast<size_t>(got);
    if (count > bytes_max) throw std::system_error(std::make_error_code(std::errc::file_too_large), file.string());
    if (got > 0) continue;
    bytes.resize(count);
    return bytes;
  }
}

std::string why_not_writable(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::path there = folder;
  while (!std::filesystem::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  std::string trial = (there / ".ringwright-XXXXXX").string();
  if (::mkdtemp(trial.data()) == nullptr || ::rmdir(trial.c_str()) != 0) return std::generic_category().message(errno);
  return "";
}

void replace(const std::filesystem::path& file, std::string_view bytes) {
  std::error_code absent;
  const std::filesystem::path linked = std::filesystem::canonical(file, absent);
  const std::filesystem::path place = absent ? file : linked;
  struct stat status{};
  const bool is_there = ::stat(place.c_str(), &status) == 0;
  if (is_there && ::access(place.c_str(), W_OK) != 0) throw_errno(file);
  if (is_there && !S_ISREG(status.st_mode)) return write_all(Descriptor(place, O_WRONLY).get(), bytes, file);
  FreshFile fresh(place);
  if (is_there) fresh.take_owner_and_mode(status);
  fresh.write(bytes);
  fresh.take_place();
  sync_folder(place.parent_path());
}

}  // namespace ringwright::files

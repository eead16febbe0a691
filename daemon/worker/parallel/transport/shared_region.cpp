#include "daemon/worker/parallel/transport/shared_region.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace ringwright::worker {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

[[noreturn]] void throw_system(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

SharedRegion::SharedRegion(int fd, size_t bytes) : fd_(fd), size_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    close_descriptor();
    throw std::system_error(error, std::generic_category(), fmt::format("mapping {} bytes of shared memory", bytes));
  }
  data_ = static_cast<std::byte*>(memory);
}

SharedRegion SharedRegion::create(size_t bytes) {
  const int fd = memfd_create("ringwright", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) throw_system("memfd_create");
  if (fchmod(fd, S_IRUSR | S_IWUSR) != 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0 || fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    const int error = errno;
    close(fd);
    throw std::system_error(error, std::generic_category(), fmt::format("{} bytes of shared memory", bytes));
  }
  return SharedRegion(fd, bytes);
}

SharedRegion SharedRegion::open(const std::string& address, size_t bytes) {
  pid_t pid = 0;
  int owner_fd = -1;
  std::istringstream(address) >> pid >> owner_fd;
  if (pid <= 0 || owner_fd < 0) throw std::runtime_error(fmt::format("\"{}\" is no address of shared memory", address));
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, owner_fd);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) throw_system(path);
  struct stat status{};
  if (fstat(fd, &status) != 0 || static_cast<size_t>(status.st_size) != bytes || (fcntl(fd, F_GET_SEALS) & kSeals) != kSeals) {
    close(fd);
    throw std::runtime_error(fmt::format("{} is not the shared memory of {} bytes that was expected", path, bytes));
  }
  return SharedRegion(fd, bytes);
}

SharedRegion::~SharedRegion() {
  if (data_ != nullptr) munmap(data_, size_);
  close_descriptor();
}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept { *this = std::move(other); }

SharedRegion& SharedRegion::operator=(SharedRegion&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::string SharedRegion::address() const { return fmt::format("{} {}", getpid(), fd_); }

void SharedRegion::close_descriptor() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

std::string host_identity() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::array<char, 64> processes{};
  if (readlink("/proc/self/ns/pid", processes.data(), processes.size() - 1) < 0) throw_system("/proc/self/ns/pid");
  return fmt::format("{} {} {}", boot, processes.data(), getuid());
}

}  // namespace ringwright::worker

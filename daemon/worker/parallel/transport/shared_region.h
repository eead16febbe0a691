// Memory that processes of one user on one host share. It has no name in any file system: the owner makes a memfd, the others open it through
// /proc/PID/fd/N. So nothing can stay behind, however a process ends, and the size of /dev/shm is no limit.
#pragma once

#include <cstddef>
#include <string>

namespace ringwright::worker {

class SharedRegion {
 public:
  SharedRegion() = default;
  // Zero-filled; of fixed size, so that no other process can cut the memory away under this one. Throws std::system_error.
  static SharedRegion create(size_t bytes);
  // address: of the owner's region. Throws std::system_error, std::runtime_error for another size or a text that is no address.
  static SharedRegion open(const std::string& address, size_t bytes);
  ~SharedRegion();
  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  // "PID FD"; others can open it until close_descriptor().
  std::string address() const;
  void close_descriptor();

 private:
  SharedRegion(int fd, size_t bytes);

  int fd_ = -1;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Equal in two processes exactly when they can share a region: the same boot of the same machine, the same process numbers, the same user.
std::string host_identity();

}  // namespace ringwright::worker

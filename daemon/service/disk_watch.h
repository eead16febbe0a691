// How much room disks have, asked on a thread of its own: a disk on the network that hangs holds up nobody.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ringwright::service {

struct DiskRoom {
  double free_bytes = 0;
  uint64_t device = 0;  // which tells one disk from another
};
// Of the disk that a place is on, or will be once it is made; nullopt where the system does not say.
std::optional<DiskRoom> disk_room(std::filesystem::path place);

class DiskWatch {
 public:
  using Rooms = std::map<std::filesystem::path, DiskRoom>;  // of the places that were asked for and have one

  DiskWatch();
  // Begins to ask, unless an earlier question has no answer yet.
  void ask(std::vector<std::filesystem::path> places);
  // The answer, once.
  std::optional<Rooms> take();

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;  // the thread's too, which may outlive us
};

}  // namespace ringwright::service

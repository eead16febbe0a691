#include "daemon/service/disk_watch.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <mutex>
#include <thread>
#include <utility>

namespace ringwright::service {

std::optional<DiskRoom> disk_room(std::filesystem::path place) {
  struct stat status{};
  while (::stat(place.c_str(), &status) != 0) {
    if (!place.has_relative_path()) return std::nullopt;
    place = place.parent_path();
  }
  struct statvfs disk{};
  if (::statvfs(place.c_str(), &disk) != 0) return std::nullopt;
  return DiskRoom{static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize), status.st_dev};
}

struct DiskWatch::Shared {
  std::mutex mutex;
  bool busy = false;
  std::optional<Rooms> answer;
};

DiskWatch::DiskWatch() : shared_(std::make_shared<Shared>()) {}

void DiskWatch::ask(std::vector<std::filesystem::path> places) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (std::exchange(shared_->busy, true)) return;
  }
  std::thread([shared = shared_, places = std::move(places)] {
    Rooms rooms;
    for (const std::filesystem::path& place : places)
      if (const auto room = disk_room(place)) rooms[place] = *room;
    const std::lock_guard lock(shared->mutex);
    shared->answer = std::move(rooms), shared->busy = false;
  }).detach();
}

std::optional<DiskWatch::Rooms> DiskWatch::take() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->answer, std::nullopt);
}

}  // namespace ringwright::service

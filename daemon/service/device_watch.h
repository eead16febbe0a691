// Reads this node's devices every second on a thread of its own: a driver that hangs holds up nobody, and the age of the last report tells.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "shared/wire/device_report.h"

namespace ringwright::service {

class DeviceWatch {
 public:
  // `library` as Nvml takes it. One that is not there, or does not start, is tried again every `retry`: drivers are loaded and updated.
  explicit DeviceWatch(const std::string& library, std::chrono::milliseconds every = std::chrono::seconds(1),
                       std::chrono::milliseconds retry = std::chrono::seconds(30));
  // Waits for a reading under way, but not for a driver that hangs.
  ~DeviceWatch();
  // Whether one that was destroyed has left its thread in a driver, or in the loader of its library, that has not returned yet: then the program must
  // end by _exit(), since whatever runs at the usual end may wait for the same.
  static bool driver_hangs();

  // Never null.
  std::shared_ptr<const wire::DeviceReport> latest() const;

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;  // the thread's too, which may outlive us
  std::thread thread_;
};

}  // namespace ringwright::service

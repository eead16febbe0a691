#include "daemon/service/device_watch.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "daemon/service/nvml.h"

namespace ringwright::service {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kWaitForDriver = std::chrono::seconds(1);
std::atomic<int> left_behind = 0;  // threads

// As after a reset of the devices, or when the driver was taken away: handles of before never come back.
bool is_worth_a_new_start(const wire::DeviceReport& report) {
  const auto has_fault = [](const wire::DeviceReading& device) { return !device.fault.empty(); };
  return !report.why_none.empty() || (!report.devices.empty() && std::all_of(report.devices.begin(), report.devices.end(), has_fault));
}

}  // namespace

struct DeviceWatch::Shared {
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::shared_ptr<const wire::DeviceReport> report = std::make_shared<wire::DeviceReport>(wire::DeviceReport{"nothing has been read yet", "", {}, 0});
  bool stop = false, ended = false, is_left_behind = false;

  // False once it is to stop.
  bool publish(wire::DeviceReport now, std::chrono::milliseconds wait) {
    auto next = std::make_shared<const wire::DeviceReport>(std::move(now));
    std::unique_lock lock(mutex);
    report = std::move(next);
    return !changed.wait_for(lock, wait, [this] { return stop; });
  }

  void watch(const std::string& library, std::chrono::milliseconds every, std::chrono::milliseconds retry) {
    std::optional<Nvml> nvml;
    Clock::time_point retry_at{};
    wire::DeviceReport now;
    do {
      if (!nvml || (is_worth_a_new_start(now) && Clock::now() >= retry_at)) {
        const std::vector<Nvml::Seen> seen = nvml ? nvml->seen() : std::vector<Nvml::Seen>();
        nvml.reset();
        nvml.emplace(library);
        nvml->remember(seen);
        retry_at = Clock::now() + retry;
      }
      now = nvml->read();
    } while (publish(now, every));
  }
};

DeviceWatch::DeviceWatch(const std::string& library, std::chrono::milliseconds every, std::chrono::milliseconds retry)
    : shared_(std::make_shared<Shared>()), thread_([shared = shared_, library, every, retry] {
        try {
          shared->watch(library, every, retry);
        } catch (const std::exception& error) {
          const std::lock_guard lock(shared->mutex);
          shared->report = std::make_shared<wire::DeviceReport>(wire::DeviceReport{error.what(), "", {}, 0});
        }
        const std::lock_guard lock(shared->mutex);
        shared->ended = true;
        if (shared->is_left_behind) --left_behind;
        shared->changed.notify_all();
      }) {}

DeviceWatch::~DeviceWatch() {
  bool ended = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
    ended = shared_->changed.wait_for(lock, kWaitForDriver, [this] { return shared_->ended; });
    shared_->is_left_behind = !ended;
    if (!ended) ++left_behind;
  }
  ended ? thread_.join() : thread_.detach();
}

bool DeviceWatch::driver_hangs() { return left_behind > 0; }

std::shared_ptr<const wire::DeviceReport> DeviceWatch::latest() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->report;
}

}  // namespace ringwright::service

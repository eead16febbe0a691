// Readings of this node's NVIDIA devices, from the driver's own library (NVML). It is loaded while the daemon runs and never linked: where it is not
// there, or lacks a function, there is no such reading, and nothing fails. Declared here is what NVIDIA documents of its binary interface.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shared/wire/device_report.h"

namespace ringwright::service {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

// Whether this machine's PCI bus has a display or compute device of NVIDIA's, with a driver or without; `devices`: the kernel's folder of them.
bool has_nvidia_device(const std::filesystem::path& devices = "/sys/bus/pci/devices");

// Not for several threads at once. A call may take as long as the driver does.
class Nvml {
 public:
  // `library`: a file, or a name that the loader finds; where it finds none on a machine without such a device, that is no fault.
  explicit Nvml(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // What this daemon has seen of a device's Xid errors, and which device it is: to hand on to the Nvml that follows this one.
  struct Seen {
    int index = 0;
    std::string name, uuid;                       // "": the driver does not say, as of a device that is lost
    std::optional<uint64_t> xid_count, xid_last;  // xid_count: nullopt where its errors are not watched
    int64_t xid_unix_ns = 0;
  };
  std::vector<Seen> seen() const;
  void remember(const std::vector<Seen>& before);

  // All devices as they are now. Errors are in the report: of the whole in why_none, of a device in its fault.
  wire::DeviceReport read();

 private:
  struct Functions;
  struct Device;
  // "" when it is ready.
  std::string open(const std::string& library);
  std::string find_devices();
  void watch_errors();
  void take_errors();
  wire::DeviceReading read(const Device& device) const;

  void* library_ = nullptr;
  std::unique_ptr<Functions> functions_;
  std::vector<Device> devices_;
  std::string driver_;
  void* errors_ = nullptr;  // the set of events that Xid errors come in
  bool started_ = false;
  std::string why_none_;  // last: open() fills in the others
};

}  // namespace ringwright::service

#include "daemon/service/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "shared/base/files.h"
#include "shared/base/text.h"
#include "shared/wire/device_text.h"
#include "shared/wire/message.h"

namespace ringwright::service {
namespace {

// Results, by NVIDIA's numbers.
enum Result : int { kGood = 0, kNotSupported = 3, kNoPermission = 4, kTooLittleRoom = 7, kFunctionNotFound = 13, kNoData = 21 };

using Handle = void*;
struct Utilisation {
  unsigned int device_percent, memory_percent;
};
struct Memory {
  unsigned long long total_bytes, free_bytes, used_bytes;
};
struct Process {
  unsigned int pid;
  unsigned long long memory_bytes;
  unsigned int device_instance, compute_instance;
};
struct ErrorEvent {
  Handle device;
  unsigned long long type, data;  // data: the Xid number
  unsigned int device_instance, compute_instance;
};
static_assert(sizeof(Process) == 24 && sizeof(ErrorEvent) == 32 && sizeof(Memory) == 24);

constexpr int kTemperatureOfDevice = 0;
constexpr int kCorrected = 0, kUncorrected = 1, kSinceDriverLoad = 0;
constexpr unsigned long long kXidEvents = 0x8;
constexpr unsigned int kTextBytesMax = 96;  // NVML's own bound for names and versions
constexpr unsigned int kProcessesMax = 128, kDevicesMax = 256;
constexpr int kErrorsPerReadMax = 64;
constexpr double kMilli = 1000;

struct ThrottleBit {
  unsigned long long bit;
  const char* words;
};
// Without 0x1, which says that nothing is to be done.
constexpr std::array<ThrottleBit, 8> kThrottleBits = {{{0x2, "application clocks"},
                                                       {0x4, "power cap"},
                                                       {0x8, wire::kHardwareSlowdown},
                                                       {0x10, "sync boost"},
                                                       {0x20, wire::kThermalSlowdown},
                                                       {0x40, wire::kThermalSlowdown},
                                                       {0x80, wire::kPowerBrake},
                                                       {0x100, "display clocks"}}};

std::vector<std::string> throttle_words(unsigned long long bits) {
  std::vector<std::string> words;
  for (const ThrottleBit& entry : kThrottleBits)
    if ((bits & entry.bit) != 0 && std::find(words.begin(), words.end(), entry.words) == words.end()) words.emplace_back(entry.words);
  return words;
}

// Such a device merely lacks the reading.
bool says_no_reading(int result) {
  return result == kNotSupported || result == kNoPermission || result == kTooLittleRoom || result == kFunctionNotFound || result == kNoData;
}

std::string loader_message() {
  const char* const message = ::dlerror();
  return message ? message : "unknown reason";
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
}

// The machine's own library, that fails for want of a device.
bool is_needless(const std::string& library) { return library.find('/') == std::string::npos && !has_nvidia_device(); }

std::string first_line(const std::filesystem::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

}  // namespace

bool has_nvidia_device(const std::filesystem::path& devices) {
  constexpr std::string_view kVendor = "0x10de", kDisplay = "0x03";
  std::error_code ignored;
  for (const auto& device : std::filesystem::directory_iterator(devices, ignored))
    if (first_line(device.path() / "vendor") == kVendor && first_line(device.path() / "class").starts_with(kDisplay)) return true;
  return false;
}

struct Nvml::Functions {
  explicit Functions(void* library) {
    find(library, "nvmlInit_v2", init);
    find(library, "nvmlShutdown", shutdown);
    find(library, "nvmlErrorString", error_text);
    find(library, "nvmlSystemGetDriverVersion", driver_version);
    find(library, "nvmlDeviceGetCount_v2", count);
    find(library, "nvmlDeviceGetHandleByIndex_v2", handle);
    find(library, "nvmlDeviceGetName", name);
    find(library, "nvmlDeviceGetUUID", uuid);
    find(library, "nvmlDeviceGetUtilizationRates", utilisation);
    find(library, "nvmlDeviceGetMemoryInfo", memory);
    find(library, "nvmlDeviceGetPowerUsage", power_mw);
    find(library, "nvmlDeviceGetEnforcedPowerLimit", power_limit_mw);
    find(library, "nvmlDeviceGetTemperature", temperature_c);
    find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", throttle_bits);
    find(library, "nvmlDeviceGetTotalEccErrors", ecc_errors);
    find(library, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
    find(library, "nvmlEventSetCreate", new_event_set);
    find(library, "nvmlEventSetFree", free_event_set);
    find(library, "nvmlEventSetWait_v2", next_event);
    find(library, "nvmlDeviceRegisterEvents", watch_events);
  }

  std::string describe(int result) const {
    const char* const words = error_text ? error_text(result) : nullptr;
    return words ? text::valid_utf8(words) : "NVML's error " + std::to_string(result);
  }

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_text)(int result) = nullptr;
  int (*driver_version)(char* text, unsigned int bytes) = nullptr;
  int (*count)(unsigned int* devices) = nullptr;
  int (*handle)(unsigned int index, Handle* device) = nullptr;
  int (*name)(Handle device, char* text, unsigned int bytes) = nullptr;
  int (*uuid)(Handle device, char* text, unsigned int bytes) = nullptr;
  int (*utilisation)(Handle device, Utilisation* rates) = nullptr;
  int (*memory)(Handle device, Memory* memory) = nullptr;
  int (*power_mw)(Handle device, unsigned int* power) = nullptr;
  int (*power_limit_mw)(Handle device, unsigned int* limit) = nullptr;
  int (*temperature_c)(Handle device, int sensor, unsigned int* temperature) = nullptr;
  int (*throttle_bits)(Handle device, unsigned long long* reasons) = nullptr;
  int (*ecc_errors)(Handle device, int kind, int counter, unsigned long long* count) = nullptr;
  int (*processes)(Handle device, unsigned int* count, Process* list) = nullptr;
  int (*new_event_set)(void** set) = nullptr;
  int (*free_event_set)(void* set) = nullptr;
  int (*next_event)(void* set, ErrorEvent* event, unsigned int timeout_ms) = nullptr;
  int (*watch_events)(Handle device, unsigned long long types, void* set) = nullptr;
};

struct Nvml::Device : Seen {
  Handle handle = nullptr;
  std::string fault;  // why it has no handle
};

Nvml::Nvml(const std::string& library) : why_none_(open(library)) {}

Nvml::~Nvml() {
  if (errors_ && functions_->free_event_set) functions_->free_event_set(errors_);
  if (started_ && functions_->shutdown) functions_->shutdown();
  if (library_) ::dlclose(library_);
}

std::string Nvml::open(const std::string& library) {
  if (const std::string kind = files::kind_if_not_regular(library); !kind.empty())
    return library + " is " + kind;  // the loader would wait for a pipe
  library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_ && is_needless(library)) return wire::kNoDevicesHere;
  if (!library_) return "NVML, the library of NVIDIA's driver, does not load: " + text::valid_utf8(loader_message());
  functions_ = std::make_unique<Functions>(library_);
  if (!functions_->init || !functions_->count || !functions_->handle) return library + " has none of NVML's functions";
  if (const int result = functions_->init(); result != kGood)
    return is_needless(library) ? wire::kNoDevicesHere : "NVML does not start: " + functions_->describe(result);
  started_ = true;
  std::array<char, kTextBytesMax> version{};
  if (functions_->driver_version && functions_->driver_version(version.data(), kTextBytesMax) == kGood) driver_ = text::valid_utf8(version.data());
  return find_devices();
}

std::string Nvml::find_devices() {
  unsigned int count = 0;
  if (const int result = functions_->count(&count); result != kGood)
    return "NVML does not say which devices there are: " + functions_->describe(result);
  for (unsigned int i = 0; i < std::min(count, kDevicesMax); ++i) {
    Device& device = devices_.emplace_back();
    device.index = static_cast<int>(i);
    if (const int result = functions_->handle(i, &device.handle); result != kGood) {
      device.handle = nullptr;
      device.fault = functions_->describe(result);
      continue;
    }
    std::array<char, kTextBytesMax> words{};
    if (functions_->name && functions_->name(device.handle, words.data(), kTextBytesMax) == kGood) device.name = text::valid_utf8(words.data());
    words = {};
    if (functions_->uuid && functions_->uuid(device.handle, words.data(), kTextBytesMax) == kGood) device.uuid = text::valid_utf8(words.data());
  }
  watch_errors();
  return "";
}

// From here on the driver keeps each Xid error until it is taken.
void Nvml::watch_errors() {
  const Functions& nvml = *functions_;
  if (!nvml.new_event_set || !nvml.next_event || !nvml.watch_events) return;
  if (nvml.new_event_set(&errors_) != kGood) {
    errors_ = nullptr;
    return;
  }
  for (Device& device : devices_)
    if (device.handle && nvml.watch_events(device.handle, kXidEvents, errors_) == kGood) device.xid_count = 0;
}

void Nvml::take_errors() {
  ErrorEvent event{};
  for (int i = 0; errors_ && i < kErrorsPerReadMax && functions_->next_event(errors_, &event, 0) == kGood; ++i)
    for (Device& device : devices_) {
      if (device.handle != event.device || event.type != kXidEvents) continue;
      device.xid_count = device.xid_count.value_or(0) + 1;
      device.xid_last = event.data;
      device.xid_unix_ns = wire::now_unix_ns();
    }
}

std::vector<Nvml::Seen> Nvml::seen() const { return {devices_.begin(), devices_.end()}; }

void Nvml::remember(const std::vector<Seen>& before) {
  for (Device& device : devices_)
    for (const Seen& known : before) {
      const bool unnamed = device.uuid.empty() || known.uuid.empty();
      if (unnamed ? device.index != known.index : device.uuid != known.uuid) continue;
      if (device.name.empty()) device.name = known.name;
      if (device.uuid.empty()) device.uuid = known.uuid;
      if (!known.xid_last) continue;
      device.xid_count = device.xid_count.value_or(0) + known.xid_count.value_or(0);
      if (!device.xid_last) device.xid_last = known.xid_last, device.xid_unix_ns = known.xid_unix_ns;
    }
}

wire::DeviceReport Nvml::read() {
  wire::DeviceReport report{why_none_, driver_, {}, wire::now_unix_ns()};
  if (!why_none_.empty()) return report;
  take_errors();
  for (const Device& device : devices_) report.devices.push_back(read(device));
  return report;
}

wire::DeviceReading Nvml::read(const Device& device) const {
  const Functions& nvml = *functions_;
  wire::DeviceReading reading;
  reading.index = device.index;
  reading.name = device.name;
  reading.uuid = device.uuid;
  reading.fault = device.fault;
  reading.xid_count = device.xid_count;
  reading.xid_last = device.xid_last;
  if (device.xid_last) reading.xid_age_s = wire::seconds_between(device.xid_unix_ns, wire::now_unix_ns());
  if (!device.handle) return reading;
  const auto ask = [&](auto function, auto... arguments) {
    if (function == nullptr) return false;
    const int result = function(device.handle, arguments...);
    if (result != kGood && !says_no_reading(result) && reading.fault.empty()) reading.fault = nvml.describe(result);
    return result == kGood;
  };
  Utilisation rates{};
  Memory memory{};
  unsigned int value = 0, count = kProcessesMax;
  unsigned long long bits = 0;
  std::array<Process, kProcessesMax> processes{};
  if (ask(nvml.utilisation, &rates)) reading.utilisation_percent = rates.device_percent;
  if (ask(nvml.memory, &memory)) reading.memory_used_bytes = memory.used_bytes, reading.memory_total_bytes = memory.total_bytes;
  if (ask(nvml.power_mw, &value)) reading.power_w = value / kMilli;
  if (ask(nvml.power_limit_mw, &value)) reading.power_limit_w = value / kMilli;
  if (ask(nvml.temperature_c, kTemperatureOfDevice, &value)) reading.temperature_c = value;
  if (ask(nvml.throttle_bits, &bits)) reading.throttle_reasons = throttle_words(bits);
  if (ask(nvml.ecc_errors, kCorrected, kSinceDriverLoad, &bits)) reading.ecc_corrected = bits;
  if (ask(nvml.ecc_errors, kUncorrected, kSinceDriverLoad, &bits)) reading.ecc_uncorrected = bits;
  if (ask(nvml.processes, &count, processes.data()))
    for (unsigned int i = 0; i < std::min(count, kProcessesMax); ++i) reading.processes.push_back(processes[i].pid);
  return reading;
}

}  // namespace ringwright::service

// Answers as NVIDIA's library does, for two devices that are not there: 0 has every reading, 1 has few. A test tells it what to answer instead.
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

namespace {

constexpr int kGood = 0, kNotSupported = 3, kTimeout = 10;

struct Device {
  unsigned int index;
};
Device devices[] = {{0}, {1}};

struct Error {
  Device* device;
  unsigned long long number;
};

std::mutex mutex;
std::condition_variable released;
std::map<std::string, int> answers;
std::deque<Error> errors;
bool held = false;

// The result that a test wants of a function, of one device ("nvmlInit_v2", "nvmlDeviceGetPowerUsage:1") or of all that is asked of one (":1").
int answer(const char* function, const void* device = nullptr) {
  std::unique_lock lock(mutex);
  released.wait(lock, [] { return !held; });
  std::string suffix;
  if (device) suffix = ":" + std::to_string(static_cast<const Device*>(device)->index);
  for (const std::string& name : {std::string(function), function + suffix, suffix})
    if (const auto found = answers.find(name); !name.empty() && found != answers.end()) return found->second;
  return kGood;
}

template <class T>
int give(const char* function, const void* device, T* place, T of_first, int otherwise = kNotSupported) {
  const int result = answer(function, device);
  if (result != kGood) return result;
  if (static_cast<const Device*>(device)->index != 0) return otherwise;
  *place = of_first;
  return kGood;
}

// FAKE_NVML_BLOCKS_LOADING: the loader never comes back from this library.
struct Loading {
  Loading() {
    while (std::getenv("FAKE_NVML_BLOCKS_LOADING")) ::pause();
  }
} loading;

}  // namespace

extern "C" {

void fake_nvml_answer(const char* function, int result) {
  const std::lock_guard lock(mutex);
  result == kGood ? void(answers.erase(function)) : void(answers[function] = result);
}
// While it is held, no function returns.
void fake_nvml_hold(bool hold) {
  const std::lock_guard lock(mutex);
  held = hold;
  released.notify_all();
}
void fake_nvml_xid(unsigned int device, unsigned long long number) {
  const std::lock_guard lock(mutex);
  errors.push_back({&devices[device], number});
}

int nvmlInit_v2() { return answer("nvmlInit_v2"); }
int nvmlShutdown() { return kGood; }
const char* nvmlErrorString(int result) { return result == 15 ? "GPU is lost" : result == 9 ? "Driver Not Loaded" : "Unknown Error"; }
int nvmlSystemGetDriverVersion(char* text, unsigned int bytes) { return std::snprintf(text, bytes, "580.65.06"), kGood; }
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return answer("nvmlDeviceGetCount_v2");
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  *device = &devices[index];
  return answer("nvmlDeviceGetHandleByIndex_v2", &devices[index]);
}
int nvmlDeviceGetName(void* device, char* text, unsigned int bytes) {
  std::snprintf(text, bytes, "Fake H%u", 100 * (static_cast<Device*>(device)->index + 1));
  return answer("nvmlDeviceGetName", device);
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* total_free_used) {
  total_free_used[0] = 80ULL << 30, total_free_used[1] = 19ULL << 30, total_free_used[2] = 61ULL << 30;
  return answer("nvmlDeviceGetMemoryInfo", device);
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned int* celsius) {
  *celsius = sensor == 0 ? 64 : 0;
  return answer("nvmlDeviceGetTemperature", device);
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned int* device_memory) {
  return give("nvmlDeviceGetUtilizationRates", device, device_memory, 87U);
}

#ifndef FAKE_NVML_OLD
int nvmlDeviceGetUUID(void* device, char* text, unsigned int bytes) {
  std::snprintf(text, bytes, "GPU-0000000%u", static_cast<Device*>(device)->index);
  return answer("nvmlDeviceGetUUID", device);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned int* milliwatts) { return give("nvmlDeviceGetPowerUsage", device, milliwatts, 655'250U); }
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned int* milliwatts) {
  return give("nvmlDeviceGetEnforcedPowerLimit", device, milliwatts, 700'000U);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
  return give("nvmlDeviceGetCurrentClocksThrottleReasons", device, bits, 0x1ULL | 0x4 | 0x20 | 0x40);
}
int nvmlDeviceGetTotalEccErrors(void* device, int kind, int counter, unsigned long long* count) {
  return give("nvmlDeviceGetTotalEccErrors", device, count, counter == 0 ? (kind == 0 ? 3ULL : 2ULL) : 99ULL);
}
// The processes are those in the file FAKE_NVML_PROCESSES, one a line.
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count, void* list) {
  struct Process {
    unsigned int pid;
    unsigned long long bytes;
    unsigned int device_instance, compute_instance;
  };
  const unsigned int room = *count;
  *count = 0;
  const char* const file = std::getenv("FAKE_NVML_PROCESSES");
  if (file != nullptr && static_cast<Device*>(device)->index == 0) {
    std::ifstream lines(file);
    for (unsigned int pid = 0; *count < room && lines >> pid; ++*count) static_cast<Process*>(list)[*count] = {pid, 1 << 20, ~0U, ~0U};
  }
  return answer("nvmlDeviceGetComputeRunningProcesses_v3", device);
}
int nvmlEventSetCreate(void** set) {
  *set = &errors;
  return answer("nvmlEventSetCreate");
}
int nvmlEventSetFree(void*) { return kGood; }
int nvmlDeviceRegisterEvents(void* device, unsigned long long types, void*) { return types == 0x8 ? answer("nvmlDeviceRegisterEvents", device) : 2; }
int nvmlEventSetWait_v2(void*, void* event, unsigned int) {
  struct Event {
    Device* device;
    unsigned long long type, data;
    unsigned int device_instance, compute_instance;
  };
  const std::lock_guard lock(mutex);
  if (errors.empty()) return kTimeout;
  *static_cast<Event*>(event) = {errors.front().device, 0x8, errors.front().number, ~0U, ~0U};
  errors.pop_front();
  return kGood;
}
#endif
}

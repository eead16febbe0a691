// What the programs of tests/device share: --device cpu|cuda, a table of checks, "N passed, N failed" last. Exit status 77 where there is no such
// device. Needs LibTorch and nothing else.
#pragma once

#include <ATen/ATen.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/worker/kernels/plugin.h"

namespace ringwright::device_test {

constexpr int kSkipped = 77;

inline at::Device g_device = at::kCPU;

inline void require(bool condition, const std::string& text) {
  if (!condition) throw std::runtime_error(text);
}

struct Check {
  std::string name;
  std::function<void()> run;
};

inline int run_checks(const std::vector<Check>& checks) {
  int passed = 0, failed = 0;
  for (const Check& check : checks) {
    try {
      check.run();
      std::printf("passed  %s\n", check.name.c_str());
      ++passed;
    } catch (const std::exception& error) {
      std::printf("FAILED  %s: %s\n", check.name.c_str(), error.what());
      ++failed;
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

// false: there is no such device here.
inline bool choose_device(const std::string& name) {
  if (name == "cpu") return true;
  const worker::CudaPlugin& plugin = worker::cuda_plugin();
  if (plugin.functions == nullptr || plugin.functions->device_count() == 0) {
    std::printf("skipped: %s\n", plugin.functions == nullptr ? plugin.reason.c_str() : "no device");
    return false;
  }
  const worker::CudaDevice device = plugin.functions->device(0);
  std::printf("%s, compute capability %d.%d\n", device.name, device.compute_major, device.compute_minor);
  g_device = at::Device(at::kCUDA, 0);
  return true;
}

// The body of main(). `checks` is called once the device is known.
inline int run_program(const char* program, int argc, char** argv, std::vector<Check> (*checks)()) {
  const std::string option = argc == 3 ? argv[1] : "", device = argc == 3 ? argv[2] : "";
  if (option != "--device" || (device != "cpu" && device != "cuda")) {
    std::fprintf(stderr, "usage: %s --device cpu|cuda\n", program);
    return 2;
  }
  try {
    return choose_device(device) ? run_checks(checks()) : kSkipped;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

}  // namespace ringwright::device_test

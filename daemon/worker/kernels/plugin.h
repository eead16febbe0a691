// Loads the CUDA plug-in where a GPU is. A worker without it goes on, on the CPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/worker/kernels/cuda/cuda_functions.h"

namespace ringwright::worker {

struct CudaPlugin {
  const CudaFunctions* functions = nullptr;
  std::string reason;  // why there are none: no driver, no device, no plug-in, the library that is missing
};

// The plug-in of this process, looked for once: first for a driver (libcuda.so.1) with a device, then for the plug-in in
// $RINGWRIGHT_CUDA_PLUGIN (a file), <program>/plugins, <program>/../plugins and <program>/../lib/ringwright. Never throws.
const CudaPlugin& cuda_plugin();

// The functions, or Error RW-CUDA-001 (exit code 3) with the reason.
const CudaFunctions& require_cuda();

// The steps of cuda_plugin(), for doctor and tests.
std::string cuda_driver_problem();  // "" when a driver with at least one device is there
std::vector<std::filesystem::path> cuda_plugin_candidates();
CudaPlugin load_cuda_plugin(const std::filesystem::path& file);

}  // namespace ringwright::worker

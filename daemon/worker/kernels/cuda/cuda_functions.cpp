#include "daemon/worker/kernels/cuda/cuda_functions.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace ringwright::worker {
namespace {

int device_count() { return c10::cuda::device_count(); }

CudaDevice device(int index) {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(index));
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  size_t free_bytes = 0, total_bytes = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  CudaDevice result{};
  std::memcpy(result.name, properties.name, std::min(sizeof(result.name) - 1, sizeof(properties.name)));
  result.memory_total_bytes = total_bytes;
  result.memory_free_bytes = free_bytes;
  result.compute_major = properties.major;
  result.compute_minor = properties.minor;
  return result;
}

void set_device(int index) { c10::cuda::set_device(static_cast<c10::DeviceIndex>(index)); }

c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                                    std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
}

constexpr CudaFunctions kFunctions = {.version = kCudaFunctionsVersion,
                                      .device_count = device_count,
                                      .device = device,
                                      .set_device = set_device,
                                      .flash_forward = cuda::flash_forward,
                                      .flash_backward = cuda::flash_backward,
                                      .flash_packed_forward = cuda::flash_packed_forward,
                                      .flash_packed_backward = cuda::flash_packed_backward,
                                      .make_nccl_backend = make_nccl_backend};

}  // namespace
}  // namespace ringwright::worker

extern "C" __attribute__((visibility("default"))) const ringwright::worker::CudaFunctions* ringwright_cuda_functions() {
  return &ringwright::worker::kFunctions;
}

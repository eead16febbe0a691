// The one table of functions that the CUDA plug-in exports, under the C name ringwright_cuda_functions. The worker and the plug-in are built
// together and share LibTorch's types; whatever is thrown is a std::exception of LibTorch, never one of Ringwright's.
#pragma once

#include <chrono>
#include <cstdint>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "daemon/worker/kernels/attention_block.h"

namespace ringwright::worker {

inline constexpr uint32_t kCudaFunctionsVersion = 3;
inline constexpr const char* kCudaFunctionsSymbol = "ringwright_cuda_functions";

struct CudaDevice {
  char name[256];
  uint64_t memory_total_bytes;
  uint64_t memory_free_bytes;
  int compute_major;
  int compute_minor;
};

// Blocks of different lengths one after the other, without rows: T is the sum of their lengths.
struct PackedLengths {
  at::Tensor query_offsets, key_offsets;  // int32, cumulative from 0, one more than blocks
  int64_t query_length_max = 0, key_length_max = 0;
};
struct PackedBlock {
  at::Tensor out_THD, lse_HT;
};
struct PackedGradients {
  at::Tensor q_THD, k_TKD, v_TKD;
};

struct CudaFunctions {
  uint32_t version;
  int (*device_count)();
  CudaDevice (*device)(int index);
  void (*set_device)(int index);  // of the calling thread, and of NCCL groups that are made next
  // Blocks in float16 or bfloat16, no mask but a causal one. Shapes as in attention_block.h.
  AttentionBlock (*flash_forward)(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, bool causal, double scale);
  AttentionBlockGradients (*flash_backward)(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD,
                                            const at::Tensor& v_BKMD, const AttentionBlock& merged, bool causal, double scale);
  // The same over packed blocks, which do not see each other; under `causal` each has as many queries as keys.
  PackedBlock (*flash_packed_forward)(const at::Tensor& q_THD, const at::Tensor& k_TKD, const at::Tensor& v_TKD, const PackedLengths& lengths,
                                      bool causal, double scale);
  PackedGradients (*flash_packed_backward)(const at::Tensor& grad_out_THD, const at::Tensor& q_THD, const at::Tensor& k_TKD, const at::Tensor& v_TKD,
                                           const PackedBlock& merged, const PackedLengths& lengths, bool causal, double scale);
  // The device must have been chosen before (one rank, one device).
  c10::intrusive_ptr<c10d::Backend> (*make_nccl_backend)(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                                         std::chrono::milliseconds timeout);
};

namespace cuda {

AttentionBlock flash_forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD, bool causal, double scale);
AttentionBlockGradients flash_backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKMD, const at::Tensor& v_BKMD,
                                       const AttentionBlock& merged, bool causal, double scale);
PackedBlock flash_packed_forward(const at::Tensor& q_THD, const at::Tensor& k_TKD, const at::Tensor& v_TKD, const PackedLengths& lengths, bool causal,
                                 double scale);
PackedGradients flash_packed_backward(const at::Tensor& grad_out_THD, const at::Tensor& q_THD, const at::Tensor& k_TKD, const at::Tensor& v_TKD,
                                      const PackedBlock& merged, const PackedLengths& lengths, bool causal, double scale);

}  // namespace cuda
}  // namespace ringwright::worker

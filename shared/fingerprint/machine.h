// The machine and the libraries that a run was made on, so that two runs can be told apart later. `doctor`, the daemon and the worker ask the same
// function.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace ringwright::fingerprint {

struct MachineOptions {
  std::filesystem::path torch_folder = {};  // LibTorch with its lib/ and include/; empty: nothing is said of LibTorch, CUDA and NCCL
  std::filesystem::path root = "/";         // what stands before proc/, sys/ and dev/; a test has its own
};

// {node, kernel, cpu: {model, cores, flags}, memory_bytes, shm_bytes, file_handles: {soft, hard}, ports: {first, last, reserved},
//  gpu: {count, models, driver, driver_cuda}, ringwright, libraries: {sqlite, zmq, yaml-cpp, xxhash, nlohmann-json, libtorch, cuda, nccl}}.
// What cannot be found out is left out; `gpu` has a count always. flags: those of the processor's that decide which kernels run (avx2, avx512f,
// amx_tile, ...). ports: the range that the system gives from. file_handles: -1 is no limit.
nlohmann::json node_fingerprint(const MachineOptions& options = {});

// The folder that the library of this name was loaded from into this process, without its lib/; empty when it was not.
std::filesystem::path folder_of_loaded(std::string_view library);

// {model, cores, flags}: the part `cpu` of the fingerprint.
nlohmann::json processor(const std::filesystem::path& root = "/");

// What a processor() cannot exceed in float32: cores x operations a cycle of its widest vectors x the highest clock that
// processors are sold with. Higher than any that is measured; a bound to find wrong counts with.
double float32_flops_per_s_max(const nlohmann::json& processor);

// GPUs with a device node.
size_t gpu_count(const std::filesystem::path& root = "/");

}  // namespace ringwright::fingerprint

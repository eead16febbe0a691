// Versions of LibTorch and of what was fetched beside it. Not for use from outside this folder.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace ringwright::fingerprint {

// {libtorch, cuda, nccl}, without those that are not there. `cuda`: the runtime beside LibTorch. CUDA's and NCCL's libraries are asked themselves,
// since their files' names do not say it all.
nlohmann::json torch_libraries(const std::filesystem::path& torch_folder);

// The newest CUDA that the driver speaks, "12.8"; "" without a driver.
std::string driver_cuda_version();

}  // namespace ringwright::fingerprint

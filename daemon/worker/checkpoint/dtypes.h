// LibTorch's element types and their names in safetensors files.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace ringwright::worker {

// "F32" -> at::kFloat; nothing for a dtype that LibTorch cannot hold.
std::optional<at::ScalarType> scalar_type_of(std::string_view safetensors_dtype);
// "F32" for at::kFloat. Throws Error RW-CKPT-006 for a type that the format has no name for.
std::string safetensors_dtype_of(at::ScalarType type);
// config.json's name, "bfloat16", as a type of the file, "BF16".
std::string safetensors_dtype_of_config(const std::string& dtype);

}  // namespace ringwright::worker

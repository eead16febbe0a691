#include "daemon/worker/checkpoint/dtypes.h"

#include <algorithm>
#include <array>

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

struct DtypeRow {
  std::string_view file;    // in a safetensors header
  std::string_view config;  // in config.json, "" where models have no such type
  at::ScalarType type;
};

constexpr std::array<DtypeRow, 10> kRows = {{{"F32", "float32", at::kFloat},
                                             {"BF16", "bfloat16", at::kBFloat16},
                                             {"F16", "float16", at::kHalf},
                                             {"F64", "float64", at::kDouble},
                                             {"I64", "", at::kLong},
                                             {"I32", "", at::kInt},
                                             {"I16", "", at::kShort},
                                             {"I8", "", at::kChar},
                                             {"U8", "", at::kByte},
                                             {"BOOL", "", at::kBool}}};

}  // namespace

std::optional<at::ScalarType> scalar_type_of(std::string_view safetensors_dtype) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const DtypeRow& candidate) { return candidate.file == safetensors_dtype; });
  return row == kRows.end() ? std::nullopt : std::optional(row->type);
}

std::string safetensors_dtype_of(at::ScalarType type) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const DtypeRow& candidate) { return candidate.type == type; });
  if (row == kRows.end())
    throw Error({"RW-CKPT-006", std::string("a tensor of type ") + c10::toString(type) + " cannot be saved", "", "float32, bfloat16 or float16", "",
                 ExitCode::run_failed});
  return std::string(row->file);
}

std::string safetensors_dtype_of_config(const std::string& dtype) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const DtypeRow& candidate) { return candidate.config == dtype; });
  if (row == kRows.end())
    throw Error({"RW-CKPT-006", "weights of type '" + dtype + "' cannot be saved", "", "float32, bfloat16 or float16", "", ExitCode::run_failed});
  return std::string(row->file);
}

}  // namespace ringwright::worker

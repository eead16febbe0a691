// The header of a safetensors file, checked as strictly as the reference library does. Reads no tensor data and needs no LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::model {

struct TensorEntry {
  std::string name;
  std::string dtype;            // "F32", "BF16", "F16", "I64", "I32", ...
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // bytes relative to the start of the data section
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;             // in order of begin
  std::map<std::string, std::string> metadata;  // __metadata__
  uint64_t data_offset = 0;                     // file offset of the data section
};

// `prefix`: the file's first bytes (all of the header), `file_size` in bytes. Throws Error RW-CKPT-001 with file, tensor and reason.
SafetensorsHeader parse_safetensors_header(std::string_view prefix, uint64_t file_size, const std::string& file_name);
SafetensorsHeader read_safetensors_header(const std::filesystem::path& file);
// Bytes of one element; 0 for an unknown dtype.
uint64_t dtype_size_bytes(std::string_view dtype);

// All tensors of a checkpoint folder: model.safetensors, or the shards that model.safetensors.index.json names.
struct CheckpointTensor {
  std::filesystem::path file;
  uint64_t file_offset;
  TensorEntry entry;
};
// Throws RW-CKPT-002 when a shard named by the index is missing (names it and its tensor count), RW-CKPT-003 when there are no weights.
std::map<std::string, CheckpointTensor> index_checkpoint(const std::filesystem::path& folder);

}  // namespace ringwright::model

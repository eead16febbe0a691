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
  std::string dtype;  // "F32", "BF16", "F16", "I64", "I32", ...
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // bytes relative to the start of the data section
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;             // in order of begin
  std::map<std::string, std::string> metadata;  // __metadata__
  uint64_t data_offset = 0;                     // file offset of the data section
};

// The longest header that is read, in bytes; the reference library's bound.
constexpr uint64_t kHeaderBytesMax = 100'000'000;

// `prefix`: the file's first bytes (all of the header), `file_size` in bytes. Throws Error RW-CKPT-001 with file, tensor and reason.
// The tensors must cover the data section without gap or overlap. Allocates nothing that the file's real bytes do not account for.
SafetensorsHeader parse_safetensors_header(std::string_view prefix, uint64_t file_size, const std::string& file_name);
SafetensorsHeader read_safetensors_header(const std::filesystem::path& file);
// Bits of one element; 0 for an unknown dtype.
uint64_t dtype_size_bits(std::string_view dtype);
// Bytes of one element; 0 for an unknown dtype and for those smaller than a byte.
uint64_t dtype_size_bytes(std::string_view dtype);

// All tensors of a checkpoint folder: model.safetensors, or the shards that model.safetensors.index.json names.
struct CheckpointTensor {
  std::filesystem::path file;
  uint64_t file_offset;
  TensorEntry entry;
};
// Throws RW-CKPT-002 when a shard named by the index is missing (names it and its tensor count) or lacks a tensor that the index puts there,
// RW-CKPT-003 when there are no weights, RW-CKPT-001 for a damaged file. With an index only the files that it names are looked at.
std::map<std::string, CheckpointTensor> index_checkpoint(const std::filesystem::path& folder);
// Weight files in the folder that the index does not name, for a note in the log; empty without an index.
std::vector<std::string> stray_weight_files(const std::filesystem::path& folder);

}  // namespace ringwright::model

#include "shared/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <tuple>
#include <utility>

#include "shared/base/error.h"
#include "shared/model/header_reader.h"
#include "shared/model/json_file.h"

namespace ringwright::model {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kIndexBytesMax = 256u << 20;
constexpr std::string_view kPointerFileStart = "version https";
constexpr const char* kIndexName = "model.safetensors.index.json";
constexpr const char* kSingleName = "model.safetensors";

struct DtypeBits {
  std::string_view name;
  uint64_t bits;
};
constexpr std::array<DtypeBits, 22> kDtypes = {{{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
                                                {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
                                                {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
                                                {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}};

[[noreturn]] void refuse(const std::string& file, const std::string& reason, const std::string& tensor = "", bool pointer = false) {
  const std::string where = tensor.empty() ? file : file + ": tensor '" + tensor + "'";
  const char* action = pointer ? "fetch the real file (git lfs pull, or download it again)" : "download the file again, or save the checkpoint again";
  throw Error({"RW-CKPT-001", "not a valid safetensors file: " + reason, where,
               "an 8-byte header length, a JSON header, then data that the tensors cover", action, ExitCode::refused});
}

uint64_t header_length(std::string_view prefix, uint64_t file_size, const std::string& file_name) {
  const bool pointer = prefix.substr(0, kPointerFileStart.size()) == kPointerFileStart;
  if (pointer) refuse(file_name, "it looks like a pointer file (Git LFS), not weights", "", true);
  if (file_size < kLengthBytes || prefix.size() < kLengthBytes) refuse(file_name, fmt::format("{} bytes are too few for a header", file_size));
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<uint64_t>(static_cast<unsigned char>(prefix[i])) << (8 * i);
  if (length > file_size - kLengthBytes)
    refuse(file_name, fmt::format("the header is said to have {} bytes, the file has {} in all", length, file_size));
  if (length > kHeaderBytesMax) refuse(file_name, fmt::format("the header has {} bytes, more than {}", length, kHeaderBytesMax));
  return length;
}

// Bytes that a tensor's shape and dtype ask for.
uint64_t wanted_bytes(const TensorEntry& tensor, const std::string& file_name) {
  const uint64_t element_bits = dtype_size_bits(tensor.dtype);
  if (element_bits == 0) refuse(file_name, "unknown dtype '" + tensor.dtype + "'", tensor.name);
  uint64_t bits = 1;
  for (int64_t size : tensor.shape)
    if (__builtin_mul_overflow(bits, static_cast<uint64_t>(size), &bits)) refuse(file_name, "the shape's product overflows", tensor.name);
  if (__builtin_mul_overflow(bits, element_bits, &bits)) refuse(file_name, "the shape's size in bytes overflows", tensor.name);
  if (bits % 8 != 0) refuse(file_name, "the elements do not fill whole bytes", tensor.name);
  return bits / 8;
}

void check_coverage(const std::vector<TensorEntry>& tensors, uint64_t data_bytes, const std::string& file_name) {
  uint64_t covered = 0;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.end < tensor.begin) refuse(file_name, fmt::format("it ends at byte {} before it begins at {}", tensor.end, tensor.begin), tensor.name);
    if (tensor.begin != covered)
      refuse(file_name,
             fmt::format("it begins at byte {}, the one before ends at {} ({})", tensor.begin, covered, tensor.begin < covered ? "overlap" : "gap"),
             tensor.name);
    const uint64_t wanted = wanted_bytes(tensor, file_name);
    if (tensor.end - tensor.begin != wanted)
      refuse(file_name, fmt::format("shape and dtype need {} bytes, the offsets give {}", wanted, tensor.end - tensor.begin), tensor.name);
    if (tensor.end > data_bytes)
      refuse(file_name, fmt::format("it ends at byte {}, the file has {} bytes of data", tensor.end, data_bytes), tensor.name);
    covered = tensor.end;
  }
  if (covered != data_bytes) refuse(file_name, fmt::format("the tensors cover {} of {} bytes of data", covered, data_bytes));
}

std::map<std::string, CheckpointTensor> index_file(const std::filesystem::path& file) {
  std::map<std::string, CheckpointTensor> tensors;
  SafetensorsHeader header = read_safetensors_header(file);
  for (TensorEntry& entry : header.tensors) {
    const std::string name = entry.name;
    tensors.emplace(name, CheckpointTensor{file, header.data_offset + entry.begin, std::move(entry)});
  }
  return tensors;
}

[[noreturn]] void refuse_index(const std::filesystem::path& index, const std::string& what) {
  throw Error({"RW-CKPT-002", what, index.string(), "{\"weight_map\": {tensor: file in the same folder}}", "download or save the checkpoint again",
               ExitCode::refused});
}

// File name -> the tensors that the index puts there.
std::map<std::string, std::vector<std::string>> read_weight_map(const std::filesystem::path& index) {
  const nlohmann::json json = read_json_file(index, kIndexBytesMax, "RW-CKPT-002");
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) refuse_index(index, "the index has no weight_map");
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    if (!file.is_string()) refuse_index(index, "weight_map['" + tensor + "'] is not a file name");
    const std::string name = file.get<std::string>();
    if (name.empty() || name.find('/') != std::string::npos || name == "..")
      refuse_index(index, "weight_map['" + tensor + "'] leaves the folder: '" + name + "'");
    files[name].push_back(tensor);
  }
  return files;
}

void require_shards(const std::filesystem::path& folder, const std::map<std::string, std::vector<std::string>>& files) {
  std::string missing;
  for (const auto& [file, tensors] : files)
    if (std::error_code error; !std::filesystem::is_regular_file(folder / file, error))
      missing += fmt::format("{}{} ({} tensor{})", missing.empty() ? "" : ", ", file, tensors.size(), tensors.size() == 1 ? "" : "s");
  if (!missing.empty())
    throw Error({"RW-CKPT-002", "the index names files that are not there: " + missing, (folder / kIndexName).string(),
                 "all files that the index names", "download the missing files", ExitCode::refused});
}

}  // namespace

uint64_t dtype_size_bits(std::string_view dtype) {
  const auto* entry = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeBits& candidate) { return candidate.name == dtype; });
  return entry == kDtypes.end() ? 0 : entry->bits;
}

uint64_t dtype_size_bytes(std::string_view dtype) { return dtype_size_bits(dtype) / 8; }

SafetensorsHeader parse_safetensors_header(std::string_view prefix, uint64_t file_size, const std::string& file_name) {
  const uint64_t length = header_length(prefix, file_size, file_name);
  if (prefix.size() - kLengthBytes < length) refuse(file_name, "the header could not be read in full");
  HeaderReader reader;
  if (!reader.read(prefix.substr(kLengthBytes, length))) refuse(file_name, reader.reason(), reader.tensor());
  SafetensorsHeader header = reader.take();
  header.data_offset = kLengthBytes + length;
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorEntry& a, const TensorEntry& b) { return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name); });
  check_coverage(header.tensors, file_size - header.data_offset, file_name);
  return header;
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& file) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(file, error);
  std::ifstream stream;
  if (regular) stream.open(file, std::ios::binary);  // a pipe would make us wait
  if (!regular || !stream)
    throw Error({"RW-CKPT-001", "the file cannot be read: " + std::string(regular ? std::strerror(errno) : "no such file"), file.string(),
                 "a safetensors file", "check the path and its permissions", ExitCode::refused});
  const uint64_t file_size = std::filesystem::file_size(file);
  std::string prefix(std::min<uint64_t>(file_size, kPointerFileStart.size()), '\0');
  stream.read(prefix.data(), static_cast<std::streamsize>(prefix.size()));
  if (!stream) refuse(file.string(), "the header could not be read in full");
  const uint64_t wanted = kLengthBytes + header_length(prefix, file_size, file.string());
  if (const size_t have = prefix.size(); wanted > have) {
    prefix.resize(wanted);
    stream.read(prefix.data() + have, static_cast<std::streamsize>(wanted - have));
    if (!stream) refuse(file.string(), "the header could not be read in full");
  }
  return parse_safetensors_header(prefix, file_size, file.string());
}

std::map<std::string, CheckpointTensor> index_checkpoint(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder / kSingleName, error) && !std::filesystem::exists(folder / kIndexName, error))
    return index_file(folder / kSingleName);
  if (!std::filesystem::exists(folder / kIndexName, error))
    throw Error({"RW-CKPT-003", "the folder holds no weights", folder.string(), std::string(kSingleName) + " or " + kIndexName,
                 "name a checkpoint folder, or write random weights with: ringwright-worker --init DIR --seed N", ExitCode::refused});
  const auto files = read_weight_map(folder / kIndexName);
  require_shards(folder, files);
  std::map<std::string, CheckpointTensor> tensors;
  for (const auto& [file, names] : files) {
    auto found = index_file(folder / file);
    for (const std::string& name : names) {
      auto node = found.extract(name);
      if (node.empty()) refuse_index(folder / kIndexName, "the index puts tensor '" + name + "' into " + file + ", which does not have it");
      tensors.insert(std::move(node));
    }
  }
  return tensors;
}

std::vector<std::string> stray_weight_files(const std::filesystem::path& folder) {
  std::vector<std::string> strays;
  std::error_code error;
  if (!std::filesystem::exists(folder / kIndexName, error)) return strays;
  const auto files = read_weight_map(folder / kIndexName);
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".safetensors" && !files.contains(entry.path().filename().string()))
      strays.push_back(entry.path().filename().string());
  std::sort(strays.begin(), strays.end());
  return strays;
}

}  // namespace ringwright::model

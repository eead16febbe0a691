#include "daemon/worker/checkpoint/save.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "daemon/worker/checkpoint/dtypes.h"
#include "daemon/worker/checkpoint/durable_file.h"
#include "shared/base/error.h"
#include "shared/model/parameters.h"
#include "shared/model/safetensors.h"

namespace ringwright::worker {
namespace {

constexpr size_t kAlignmentBytes = 8;
constexpr const char* kSingleName = "model.safetensors";
constexpr const char* kIndexName = "model.safetensors.index.json";
// What a folder may hold beside config.json and the weights for a tokenizer and generation to work.
constexpr std::array<const char*, 9> kCopiedFiles = {"generation_config.json",
                                                     "tokenizer.json",
                                                     "tokenizer_config.json",
                                                     "special_tokens_map.json",
                                                     "added_tokens.json",
                                                     "chat_template.jinja",
                                                     "vocab.json",
                                                     "merges.txt",
                                                     "tokenizer.model"};

struct Outgoing {
  std::string name, dtype;
  at::Tensor value;
  uint64_t bytes = 0;
};

// Larger element types first, so that every tensor is aligned to its own size.
std::vector<Outgoing> outgoing_tensors(const TensorMap& parameters, const std::map<std::string, std::string>& dtypes,
                                       const std::string& default_dtype) {
  std::vector<Outgoing> tensors;
  for (const auto& [name, value] : parameters) {
    const auto own = dtypes.find(name);
    const std::string dtype = own == dtypes.end() ? default_dtype : own->second;
    tensors.push_back({name, dtype, value.detach(), static_cast<uint64_t>(value.numel()) * model::dtype_size_bytes(dtype)});
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const Outgoing& a, const Outgoing& b) { return model::dtype_size_bytes(a.dtype) > model::dtype_size_bytes(b.dtype); });
  return tensors;
}

std::string header_of(const std::vector<Outgoing>& tensors) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  uint64_t offset = 0;
  for (const Outgoing& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.value.sizes().vec()}, {"data_offsets", {offset, offset + tensor.bytes}}};
    offset += tensor.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes, ' ');
  std::string length;
  for (size_t i = 0; i < sizeof(uint64_t); ++i) length += static_cast<char>(text.size() >> (8 * i));
  return length + text;
}

void write_safetensors(const std::filesystem::path& file, const std::vector<Outgoing>& tensors) {
  DurableFile out(file);
  out.write(header_of(tensors));
  for (const Outgoing& tensor : tensors) {
    const at::Tensor converted = tensor.value.to(at::kCPU, scalar_type_of(tensor.dtype).value()).contiguous();
    out.write(converted.data_ptr(), tensor.bytes);
  }
  out.finish();
}

std::vector<std::vector<Outgoing>> shards_of(std::vector<Outgoing> tensors, uint64_t bytes_max) {
  std::vector<std::vector<Outgoing>> shards(1);
  uint64_t bytes = 0;
  for (Outgoing& tensor : tensors) {
    if (!shards.back().empty() && bytes + tensor.bytes > bytes_max) shards.emplace_back(), bytes = 0;
    bytes += tensor.bytes;
    shards.back().push_back(std::move(tensor));
  }
  return shards;
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  DurableFile out(file);
  out.write(text);
  out.finish();
}

void write_weights(const std::filesystem::path& folder, std::vector<Outgoing> tensors, uint64_t shard_bytes_max) {
  const auto shards = shards_of(std::move(tensors), shard_bytes_max);
  if (shards.size() == 1) return write_safetensors(folder / kSingleName, shards[0]);
  nlohmann::json weight_map;
  uint64_t total_bytes = 0, total_parameters = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    for (const Outgoing& tensor : shards[i]) {
      weight_map[tensor.name] = name;
      total_bytes += tensor.bytes, total_parameters += static_cast<uint64_t>(tensor.value.numel());
    }
    write_safetensors(folder / name, shards[i]);
  }
  const nlohmann::json index = {{"metadata", {{"total_size", total_bytes}, {"total_parameters", total_parameters}}}, {"weight_map", weight_map}};
  write_text(folder / kIndexName, index.dump(2) + "\n");
}

void write_config(const std::filesystem::path& folder, const model::ModelConfig& config) {
  nlohmann::json json = config.raw;
  json[json.contains("torch_dtype") && !json.contains("dtype") ? "torch_dtype" : "dtype"] = config.dtype;
  write_text(folder / "config.json", json.dump(2) + "\n");
}

void copy_side_files(const std::filesystem::path& source, const std::filesystem::path& folder) {
  std::error_code error;
  for (const char* name : kCopiedFiles)
    if (std::filesystem::is_regular_file(source / name, error)) copy_durably(source / name, folder / name);
}

void require_replaceable(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  const bool ours = std::filesystem::is_directory(folder, error) &&
                    (std::filesystem::is_empty(folder, error) || std::filesystem::exists(folder / "config.json", error));
  if (!ours)
    throw Error({"RW-CKPT-007", "there is something other than a checkpoint at the place to save to", folder.string(),
                 "a new folder, or an earlier checkpoint", "move it away, or set checkpointing.checkpoint_dir to another folder",
                 ExitCode::run_failed});
}

at::Tensor initial_value(const model::ParameterSpec& spec, double standard_deviation, at::Generator& generator) {
  if (spec.initial == model::Initial::one) return at::ones(spec.shape);
  if (spec.initial == model::Initial::zero) return at::zeros(spec.shape);
  return at::empty(spec.shape).normal_(0, standard_deviation, generator);
}

}  // namespace

void save_checkpoint(const std::filesystem::path& folder_as_given, const model::ModelConfig& config, const TensorMap& parameters,
                     const SaveOptions& options) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(folder_as_given).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  require_replaceable(folder);
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error) throw_save_error(folder.parent_path(), error.value());
  std::filesystem::path fresh = folder;
  fresh += fmt::format(".partial-{}", ::getpid());
  std::filesystem::remove_all(fresh, error);
  if (!std::filesystem::create_directory(fresh, error)) throw_save_error(fresh, error.value());
  try {
    write_weights(fresh, outgoing_tensors(parameters, options.dtypes, safetensors_dtype_of_config(config.dtype)), options.shard_bytes_max);
    write_config(fresh, config);
    if (!options.source.empty()) copy_side_files(options.source, fresh);
    sync_directory(fresh);
    replace_directory(fresh, folder);
  } catch (...) {
    std::filesystem::remove_all(fresh, error);
    throw;
  }
}

void initialize_checkpoint(const std::filesystem::path& folder, uint64_t seed) {
  const model::ModelConfig config = model::read_model_config(folder);
  std::error_code error;
  for (const char* name : {kSingleName, kIndexName})
    if (std::filesystem::exists(folder / name, error))
      throw Error({"RW-CKPT-007", "the folder holds weights already", (folder / name).string(), "a folder with config.json and no weights",
                   "remove the weights, or choose another folder", ExitCode::refused});
  const at::NoGradGuard no_grad;
  at::Generator generator = at::detail::createCPUGenerator(seed);
  TensorMap parameters;
  for (const model::ParameterSpec& spec : model::parameter_specs(config))
    parameters[spec.name] = initial_value(spec, config.initializer_range, generator);
  std::filesystem::path fresh = folder / kSingleName;
  fresh += fmt::format(".partial-{}", ::getpid());
  try {
    write_safetensors(fresh, outgoing_tensors(parameters, {}, safetensors_dtype_of_config(config.dtype)));
    std::filesystem::rename(fresh, folder / kSingleName);
    sync_directory(folder);
  } catch (const std::filesystem::filesystem_error& failure) {
    std::filesystem::remove(fresh, error);
    throw_save_error(folder / kSingleName, failure.code().value());
  } catch (...) {
    std::filesystem::remove(fresh, error);
    throw;
  }
}

}  // namespace ringwright::worker

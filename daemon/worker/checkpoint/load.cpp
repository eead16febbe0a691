#include "daemon/worker/checkpoint/load.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "daemon/worker/checkpoint/dtypes.h"
#include "shared/base/error.h"
#include "shared/model/parameters.h"

namespace ringwright::worker {
namespace {

constexpr const char* kHeadName = "lm_head.weight";
constexpr const char* kEmbeddingName = "model.embed_tokens.weight";
constexpr size_t kNamesShown = 6;

class ReadOnlyFile {
 public:
  explicit ReadOnlyFile(const std::filesystem::path& file) : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), file_(file) {
    if (descriptor_ < 0) fail(std::strerror(errno));
  }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;
  ~ReadOnlyFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  void read(void* target, uint64_t bytes, uint64_t offset) const {
    for (auto* out = static_cast<char*>(target); bytes > 0;) {
      const ssize_t got = ::pread(descriptor_, out, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(got < 0 ? std::strerror(errno) : "it became shorter while it was read");
      out += got, offset += static_cast<uint64_t>(got), bytes -= static_cast<uint64_t>(got);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error({"RW-CKPT-001", "the weights cannot be read: " + reason, file_.string(), "a readable safetensors file",
                 "check the file and its permissions", ExitCode::refused});
  }
  int descriptor_;
  std::filesystem::path file_;
};

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& what, const std::string& action) {
  throw Error({"RW-CKPT-004", what, folder.string(), "the tensors that config.json describes", action, ExitCode::refused});
}

std::string some_of(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamesShown);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "));
  return names.size() > shown ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

// Frequencies that old files carry and that are computed from the configuration.
bool is_derived(const std::string& name) { return name.ends_with("rotary_emb.inv_freq"); }

void check_names(const std::filesystem::path& folder, const std::map<std::string, model::CheckpointTensor>& files,
                 const std::vector<model::ParameterSpec>& specs, bool tied) {
  std::vector<std::string> missing, extra;
  std::map<std::string, const model::ParameterSpec*> wanted;
  for (const model::ParameterSpec& spec : specs) {
    wanted[spec.name] = &spec;
    if (!files.contains(spec.name)) missing.push_back(spec.name);
  }
  for (const auto& [name, tensor] : files)
    if (!wanted.contains(name) && !is_derived(name) && !(tied && name == kHeadName)) extra.push_back(name);
  if (!missing.empty())
    refuse(folder, fmt::format("{} tensors are missing: {}", missing.size(), some_of(missing)), "use the config.json that belongs to the weights");
  if (!extra.empty())
    refuse(folder, fmt::format("{} tensors are not part of the model: {}", extra.size(), some_of(extra)),
           "use the config.json that belongs to the weights");
  for (const model::ParameterSpec& spec : specs)
    if (const auto& shape = files.at(spec.name).entry.shape; shape != spec.shape)
      refuse(folder, fmt::format("'{}' has shape [{}], config.json asks for [{}]", spec.name, fmt::join(shape, ", "), fmt::join(spec.shape, ", ")),
             "use the config.json that belongs to the weights");
}

// A tied model whose file also has a head: equal is harmless, different would lose one of the two.
void check_redundant_head(const std::filesystem::path& folder, const model::CheckpointTensor& head, const model::CheckpointTensor& embedding) {
  const at::Tensor head_Vd = read_tensor(head).to(at::kFloat), embedding_Vd = read_tensor(embedding).to(at::kFloat);
  if (head_Vd.sizes() == embedding_Vd.sizes() && at::equal(head_Vd, embedding_Vd)) return;
  const std::string difference =
      head_Vd.sizes() == embedding_Vd.sizes() ? fmt::format(" by up to {:.3g}", (head_Vd - embedding_Vd).abs().max().item<float>()) : " in shape";
  refuse(folder, fmt::format("tie_word_embeddings is true, but {} differs from the embedding{}", kHeadName, difference),
         "set tie_word_embeddings to false in config.json to keep both");
}

}  // namespace

at::Tensor read_tensor(const model::CheckpointTensor& tensor) {
  const auto type = scalar_type_of(tensor.entry.dtype);
  if (!type)
    throw Error({"RW-CKPT-001", "weights of dtype " + tensor.entry.dtype + " are not supported",
                 tensor.file.string() + ": tensor '" + tensor.entry.name + "'", "F32, BF16 or F16", "convert the checkpoint", ExitCode::refused});
  at::Tensor value = at::empty(tensor.entry.shape, at::TensorOptions().dtype(*type));
  ReadOnlyFile(tensor.file).read(value.data_ptr(), tensor.entry.end - tensor.entry.begin, tensor.file_offset);
  return value;
}

TensorMap read_safetensors(const std::filesystem::path& file) {
  TensorMap tensors;
  const model::SafetensorsHeader header = model::read_safetensors_header(file);
  for (const model::TensorEntry& entry : header.tensors) tensors[entry.name] = read_tensor({file, header.data_offset + entry.begin, entry});
  return tensors;
}

LoadedCheckpoint load_checkpoint(const std::filesystem::path& folder, at::ScalarType dtype) {
  LoadedCheckpoint loaded;
  loaded.config = model::read_model_config(folder);
  const auto files = model::index_checkpoint(folder);
  const auto specs = model::parameter_specs(loaded.config);
  check_names(folder, files, specs, loaded.config.tie_word_embeddings);
  if (loaded.config.tie_word_embeddings && files.contains(kHeadName)) check_redundant_head(folder, files.at(kHeadName), files.at(kEmbeddingName));
  for (const std::string& file : model::stray_weight_files(folder)) loaded.notes.push_back("ignored: " + file + " is not in the index");
  for (const model::ParameterSpec& spec : specs) {
    const model::CheckpointTensor& tensor = files.at(spec.name);
    if (const auto type = scalar_type_of(tensor.entry.dtype); type && !c10::isFloatingType(*type))
      refuse(folder, "'" + spec.name + "' has dtype " + tensor.entry.dtype, "convert the checkpoint to F32, BF16 or F16");
    loaded.dtypes[spec.name] = tensor.entry.dtype;
    loaded.parameters[spec.name] = read_tensor(tensor).to(dtype);
  }
  return loaded;
}

}  // namespace ringwright::worker

#include "daemon/worker/checkpoint/load.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/worker/checkpoint/dtypes.h"
#include "shared/base/error.h"
#include "shared/model/parameters.h"

namespace ringwright::worker {
namespace {

using model::kEmbeddingName;
using model::kHeadName;

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

// A tied model whose file also has a head: equal is harmless, different would lose one of the two.
void check_redundant_head(const std::filesystem::path& folder, const model::CheckpointTensor& head, const model::CheckpointTensor& embedding) {
  const at::Tensor head_Vd = read_tensor(head).to(at::kFloat), embedding_Vd = read_tensor(embedding).to(at::kFloat);
  if (at::equal(head_Vd, embedding_Vd)) return;
  throw Error({"RW-CKPT-004",
               fmt::format("tie_word_embeddings is true, but {} differs from the embedding by up to {:.3g}", kHeadName,
                           (head_Vd - embedding_Vd).abs().max().item<float>()),
               folder.string(), "the tensors that config.json describes", "set tie_word_embeddings to false in config.json to keep both",
               ExitCode::refused});
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
  model::check_tensors(folder, loaded.config, files);
  if (loaded.config.tie_word_embeddings && files.contains(kHeadName)) check_redundant_head(folder, files.at(kHeadName), files.at(kEmbeddingName));
  for (const std::string& file : model::stray_weight_files(folder)) loaded.notes.push_back("ignored: " + file + " is not in the index");
  for (const model::ParameterSpec& spec : specs) {
    const model::CheckpointTensor& tensor = files.at(spec.name);
    loaded.dtypes[spec.name] = tensor.entry.dtype;
    loaded.parameters[spec.name] = read_tensor(tensor).to(dtype);
  }
  return loaded;
}

}  // namespace ringwright::worker

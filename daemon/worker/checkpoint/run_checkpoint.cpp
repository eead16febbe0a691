#include "daemon/worker/checkpoint/run_checkpoint.h"

#include "daemon/worker/checkpoint/durable_file.h"
#include "daemon/worker/checkpoint/unfinished.h"

namespace ringwright::worker {
namespace {

void write_json(const std::filesystem::path& file, const nlohmann::json& json) {
  DurableFile output(file);
  output.write(json.dump(2) + "\n");
  output.finish();
}

uint64_t bytes_below(const std::filesystem::path& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

}  // namespace

SavedCheckpoint save_run_checkpoint(const RunCheckpoint& checkpoint, const model::ModelConfig& config, const TensorMap& parameters,
                                    const SaveOptions& options) {
  const std::string name = "step_" + std::to_string(checkpoint.step);
  const std::filesystem::path finished = checkpoint.directory / name;
  remove_abandoned_folders(checkpoint.directory);
  const UnfinishedFolder folder(checkpoint.directory / (kUnfinishedPrefix + std::to_string(checkpoint.step)));
  const std::filesystem::path& unfinished = folder.path();
  std::error_code error;
  std::filesystem::create_directories(unfinished / "policy", error);
  if (error) throw_save_error(unfinished, error.value());
  try {
    save_checkpoint(unfinished / "policy" / "weights", config, parameters, options);
    write_json(unfinished / "training_info.json", {{"step", checkpoint.step}, {"tokens_trained", checkpoint.tokens_trained}});
    write_json(unfinished / "config.yaml", checkpoint.recipe);
    sync_directory(unfinished);
    replace_directory(unfinished, finished);
  } catch (...) {
    std::filesystem::remove_all(unfinished, error);
    throw;
  }
  return {finished / "policy" / "weights", bytes_below(finished)};
}

}  // namespace ringwright::worker

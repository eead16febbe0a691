#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "daemon/worker/checkpoint/load.h"
#include "daemon/worker/checkpoint/save.h"
#include "shared/base/error.h"
#include "shared/model/parameters.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::worker {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

nlohmann::json small_config(bool tied = false) {
  return {{"model_type", "llama"},    {"architectures", {"LlamaForCausalLM"}},
          {"vocab_size", 40},         {"hidden_size", 16},
          {"intermediate_size", 24},  {"num_hidden_layers", 2},
          {"num_attention_heads", 2}, {"num_key_value_heads", 1},
          {"attention_bias", true},   {"tie_word_embeddings", tied}};
}

class CheckpointTest : public ::testing::Test {
 protected:
  fs::path model_folder(const std::string& name, const nlohmann::json& config) const {
    fs::create_directory(folder_ / name);
    std::ofstream(folder_ / name / "config.json") << config.dump();
    return folder_ / name;
  }
  const test::TemporaryFolder folder_;
};

std::string code_of(const std::function<void()>& action, std::string* what = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (what) *what = describe(error.parts());
    return error.parts().code;
  }
  return "no error";
}

TEST_F(CheckpointTest, InitialWeightsFollowTheSeedAndTheLaw) {
  const fs::path a = model_folder("a", small_config()), b = model_folder("b", small_config()), c = model_folder("c", small_config());
  initialize_checkpoint(a, 5), initialize_checkpoint(b, 5), initialize_checkpoint(c, 6);
  const auto first = load_checkpoint(a, at::kFloat), same = load_checkpoint(b, at::kFloat), other = load_checkpoint(c, at::kFloat);
  EXPECT_EQ(first.parameters.size(), model::parameter_specs(first.config).size());
  for (const auto& [name, value] : first.parameters) EXPECT_TRUE(at::equal(value, same.parameters.at(name))) << name;
  const std::string matrix = "model.embed_tokens.weight";
  EXPECT_FALSE(at::equal(first.parameters.at(matrix), other.parameters.at(matrix)));
  EXPECT_NEAR(first.parameters.at(matrix).std().item<double>(), 0.02, 0.003);
  EXPECT_TRUE(at::equal(first.parameters.at("model.norm.weight"), at::ones({16})));
  EXPECT_TRUE(at::equal(first.parameters.at("model.layers.0.self_attn.q_proj.bias"), at::zeros({16})));
}

TEST_F(CheckpointTest, InitDoesNotReplaceWeights) {
  const fs::path a = model_folder("a", small_config());
  initialize_checkpoint(a, 5);
  EXPECT_EQ(code_of([&] { initialize_checkpoint(a, 5); }), "RW-CKPT-007");
}

TEST_F(CheckpointTest, SavedInHalfPrecisionRoundsToNearestEvenAndKeepsPerTensorTypes) {  // T23
  const fs::path a = model_folder("a", small_config());
  initialize_checkpoint(a, 5);
  LoadedCheckpoint loaded = load_checkpoint(a, at::kFloat);
  loaded.config.dtype = "bfloat16";
  loaded.parameters["model.embed_tokens.weight"][0][0] = 0.1;
  loaded.parameters["model.embed_tokens.weight"][0][1] = 1.00390625;
  save_checkpoint(folder_ / "out", loaded.config, loaded.parameters, {1 << 30, {{"model.norm.weight", "F32"}}, {}});
  const auto tensors = model::index_checkpoint(folder_ / "out");
  EXPECT_EQ(tensors.at("model.norm.weight").entry.dtype, "F32");
  EXPECT_EQ(tensors.at("model.embed_tokens.weight").entry.dtype, "BF16");
  for (const auto& [name, tensor] : tensors) EXPECT_EQ(tensor.file_offset % model::dtype_size_bytes(tensor.entry.dtype), 0u) << name;
  const auto again = load_checkpoint(folder_ / "out", at::kFloat);
  EXPECT_EQ(again.config.dtype, "bfloat16");
  EXPECT_EQ(again.parameters.at("model.embed_tokens.weight")[0][0].item<float>(), 0.10009765625f);
  EXPECT_EQ(again.parameters.at("model.embed_tokens.weight")[0][1].item<float>(), 1.0f);
}

TEST_F(CheckpointTest, SideFilesAreCopiedAndTheHeaderIsAligned) {
  const fs::path a = model_folder("a", small_config());
  initialize_checkpoint(a, 5);
  std::ofstream(a / "tokenizer.json") << "{}";
  std::ofstream(a / "generation_config.json") << R"({"do_sample": true})";
  const auto loaded = load_checkpoint(a, at::kFloat);
  save_checkpoint((folder_ / "out" / "").string(), loaded.config, loaded.parameters, {1 << 30, {}, a});
  EXPECT_TRUE(fs::exists(folder_ / "out" / "tokenizer.json"));
  EXPECT_TRUE(fs::exists(folder_ / "out" / "generation_config.json"));
  const auto header = model::read_safetensors_header(folder_ / "out" / "model.safetensors");
  EXPECT_EQ(header.data_offset % 8, 0u);
  EXPECT_EQ(header.metadata.at("format"), "pt");
}

// A limit on the size of files acts as a full disk: writing fails in the middle of the weights.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(CheckpointTest, FullDiskLeavesTheEarlierCheckpoint) {
  const fs::path a = model_folder("a", small_config());
  initialize_checkpoint(a, 5);
  LoadedCheckpoint loaded = load_checkpoint(a, at::kFloat);
  save_checkpoint(folder_ / "out", loaded.config, loaded.parameters);
  const TensorMap before = load_checkpoint(folder_ / "out", at::kFloat).parameters;
  loaded.parameters["model.norm.weight"].fill_(3);
  std::string text;
  {
    const FileSizeLimit limit(4096);
    EXPECT_EQ(code_of([&] { save_checkpoint(folder_ / "out", loaded.config, loaded.parameters); }, &text), "RW-CKPT-005");
  }
  EXPECT_THAT(text, HasSubstr("earlier checkpoints are untouched"));
  for (const auto& [name, value] : load_checkpoint(folder_ / "out", at::kFloat).parameters) EXPECT_TRUE(at::equal(value, before.at(name))) << name;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2) << "a partial folder was left";
  save_checkpoint(folder_ / "out", loaded.config, loaded.parameters);
  EXPECT_EQ(load_checkpoint(folder_ / "out", at::kFloat).parameters.at("model.norm.weight")[0].item<float>(), 3);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 2) << "the replaced folder was left";
}

TEST_F(CheckpointTest, AFolderOfOtherThingsIsNotReplaced) {
  const fs::path a = model_folder("a", small_config());
  initialize_checkpoint(a, 5);
  const auto loaded = load_checkpoint(a, at::kFloat);
  fs::create_directory(folder_ / "notes");
  std::ofstream(folder_ / "notes" / "diary.txt") << "mine";
  EXPECT_EQ(code_of([&] { save_checkpoint(folder_ / "notes", loaded.config, loaded.parameters); }), "RW-CKPT-007");
  EXPECT_TRUE(fs::exists(folder_ / "notes" / "diary.txt"));
}

TEST_F(CheckpointTest, WrongTensorsAreNamed) {
  const fs::path a = model_folder("a", small_config());
  initialize_checkpoint(a, 5);
  nlohmann::json config = small_config();
  const auto refusal = [&](const nlohmann::json& changed) {
    std::string text;
    std::ofstream(a / "config.json") << changed.dump();
    EXPECT_EQ(code_of([&] { load_checkpoint(a, at::kFloat); }, &text), "RW-CKPT-004");
    return text;
  };
  config["num_hidden_layers"] = 3;
  EXPECT_THAT(refusal(config), HasSubstr("model.layers.2.input_layernorm.weight"));
  config = small_config(), config["attention_bias"] = false;
  EXPECT_THAT(refusal(config), HasSubstr("not part of the model"));
  config = small_config(), config["vocab_size"] = 41;
  EXPECT_THAT(refusal(config), HasSubstr("[40, 16], config.json asks for [41, 16]"));
}

TEST_F(CheckpointTest, T20TiedModelWithADifferentHeadIsRefusedWithAnEqualOneLoads) {
  const fs::path a = model_folder("a", small_config());
  initialize_checkpoint(a, 5);
  LoadedCheckpoint loaded = load_checkpoint(a, at::kFloat);
  std::ofstream(a / "config.json") << small_config(true).dump();
  std::string text;
  EXPECT_EQ(code_of([&] { load_checkpoint(a, at::kFloat); }, &text), "RW-CKPT-004");
  EXPECT_THAT(text, HasSubstr("differs from the embedding by up to"));
  loaded.parameters["lm_head.weight"] = loaded.parameters["model.embed_tokens.weight"];
  loaded.config.raw["tie_word_embeddings"] = true;
  save_checkpoint(folder_ / "equal", loaded.config, loaded.parameters);
  EXPECT_FALSE(load_checkpoint(folder_ / "equal", at::kFloat).parameters.contains("lm_head.weight"));
}

}  // namespace
}  // namespace ringwright::worker

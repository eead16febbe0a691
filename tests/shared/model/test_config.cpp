#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "shared/base/error.h"
#include "shared/model/config.h"
#include "shared/model/json_file.h"
#include "shared/model/parameters.h"

namespace ringwright::model {
namespace {

using ::testing::HasSubstr;

nlohmann::json small_llama() {
  return {{"model_type", "llama"},    {"architectures", {"LlamaForCausalLM"}},
          {"vocab_size", 512},        {"hidden_size", 64},
          {"intermediate_size", 160}, {"num_hidden_layers", 2},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2}};
}

ErrorParts refusal(const nlohmann::json& json) {
  try {
    parse_model_config(json, "config.json");
  } catch (const Error& error) {
    return error.parts();
  }
  return {"", "accepted", "", "", "", ExitCode::good};
}

TEST(ModelConfigTest, BothDialectsGiveTheSameModel) {
  nlohmann::json recent = small_llama(), old = small_llama();
  recent["rope_parameters"] = {{"rope_type", "llama3"},  {"rope_theta", 500000.0},  {"factor", 8.0},
                               {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 32}};
  recent["dtype"] = "bfloat16";
  old["rope_theta"] = 500000.0;
  old["rope_scaling"] = {
      {"type", "llama3"}, {"factor", 8.0}, {"low_freq_factor", 1.0}, {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 32}};
  old["torch_dtype"] = "bfloat16";
  for (const nlohmann::json& json : {recent, old}) {
    const ModelConfig config = parse_model_config(json, "config.json");
    EXPECT_EQ(config.rope.type, "llama3");
    EXPECT_EQ(config.rope.theta, 500000.0);
    EXPECT_EQ(config.rope.factor, 8.0);
    EXPECT_EQ(config.rope.original_max_position_embeddings, 32);
    EXPECT_EQ(config.dtype, "bfloat16");
    EXPECT_EQ(config.raw, json);
  }
}

TEST(ModelConfigTest, DefaultsAreThoseOfTransformers) {
  nlohmann::json json = small_llama();
  json.erase("num_key_value_heads");
  json["rope_scaling"] = nullptr;
  json["eos_token_id"] = {2, 7};
  json["some_unknown_key"] = {{"a", 1}};
  const ModelConfig config = parse_model_config(json, "config.json");
  EXPECT_EQ(config.num_key_value_heads, 4);
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.max_position_embeddings, 2048);
  EXPECT_EQ(config.rms_norm_eps, 1e-6);
  EXPECT_EQ(config.rope.theta, 10000.0);
  EXPECT_EQ(config.rope.type, "default");
  EXPECT_FALSE(config.tie_word_embeddings);
  EXPECT_EQ(config.pad_token_id, -1);
  EXPECT_THAT(config.eos_token_ids, ::testing::ElementsAre(2, 7));
}

TEST(ModelConfigTest, CountsParameters) {
  nlohmann::json json = small_llama();
  EXPECT_EQ(parse_model_config(json, "c").parameter_count(), 2 * (2 * 64 + 64 * (2 * 64 + 2 * 32) + 3 * 64 * 160) + 64 + 2 * 512 * 64);
  json["tie_word_embeddings"] = true;
  json["attention_bias"] = true;
  json["mlp_bias"] = true;
  EXPECT_EQ(parse_model_config(json, "c").parameter_count(),
            2 * (2 * 64 + 64 * (2 * 64 + 2 * 32) + 3 * 64 * 160 + 64 + 2 * 32 + 64 + 2 * 160 + 64) + 64 + 512 * 64);
}

TEST(ParameterSpecsTest, SizesAddUpToTheCount) {
  for (bool flag : {false, true}) {
    nlohmann::json json = small_llama();
    json["tie_word_embeddings"] = json["attention_bias"] = json["mlp_bias"] = flag;
    const ModelConfig config = parse_model_config(json, "c");
    int64_t count = 0;
    for (const ParameterSpec& spec : parameter_specs(config)) {
      int64_t size = 1;
      for (int64_t length : spec.shape) size *= length;
      count += size;
    }
    EXPECT_EQ(count, config.parameter_count());
  }
}

TEST(ModelConfigTest, OtherFamiliesAreRefusedWithTheSupportedOnes) {
  for (const char* family : {"qwen2", "qwen3", "qwen3_moe", "nemotron_h", ""}) {
    nlohmann::json json = small_llama();
    json["model_type"] = family;
    const ErrorParts parts = refusal(json);
    EXPECT_EQ(parts.code, "RW-MODEL-004") << family;
    EXPECT_EQ(parts.exit_code, ExitCode::refused);
    EXPECT_THAT(parts.what, HasSubstr(family));
    EXPECT_THAT(parts.expected, HasSubstr("llama"));
  }
  nlohmann::json head = small_llama();
  head["architectures"] = {"LlamaForSequenceClassification"};
  EXPECT_EQ(refusal(head).code, "RW-MODEL-004");
}

TEST(ModelConfigTest, BadValuesNameTheKey) {
  struct Case {
    const char* key;
    nlohmann::json value;
  };
  const std::vector<Case> cases = {{"vocab_size", nullptr},
                                   {"vocab_size", 0},
                                   {"hidden_size", -4},
                                   {"hidden_size", 18446744073709551615u},
                                   {"num_hidden_layers", "two"},
                                   {"num_key_value_heads", 3},
                                   {"head_dim", 15},
                                   {"hidden_act", "gelu"},
                                   {"attention_dropout", 0.1},
                                   {"rms_norm_eps", "small"},
                                   {"tie_word_embeddings", 1},
                                   {"quantization_config", {{"bits", 4}}},
                                   {"dtype", "int8"},
                                   {"eos_token_id", "end"},
                                   {"rope_scaling", "linear"},
                                   {"hidden_size", 2147483648}};
  for (const Case& one : cases) {
    nlohmann::json json = small_llama();
    json[one.key] = one.value;
    const ErrorParts parts = refusal(json);
    EXPECT_EQ(parts.code, "RW-MODEL-003") << one.key << " " << one.value;
    EXPECT_THAT(parts.what + parts.where, HasSubstr(one.key)) << one.value;
  }
}

TEST(ModelConfigTest, RopeSectionsAreChecked) {
  const std::vector<nlohmann::json> sections = {
      {{"rope_type", "longrope"}},
      {{"rope_type", "linear"}},
      {{"rope_type", "dynamic"}, {"factor", 0}},
      {{"rope_type", "llama3"}, {"factor", 8}},
      {{"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 4}, {"high_freq_factor", 4}, {"original_max_position_embeddings", 32}},
      {{"rope_type", "yarn"}, {"beta_fast", "x"}}};
  for (const nlohmann::json& section : sections) {
    nlohmann::json json = small_llama();
    json["rope_parameters"] = section;
    const ErrorParts parts = refusal(json);
    EXPECT_EQ(parts.code, "RW-MODEL-003") << section;
    EXPECT_THAT(parts.where, HasSubstr("rope_parameters.")) << section;
  }
}

TEST(ModelConfigTest, YarnWithoutFactorDerivesIt) {
  nlohmann::json json = small_llama();
  json["max_position_embeddings"] = 256;
  json["rope_parameters"] = {{"rope_type", "yarn"}, {"factor", nullptr}, {"original_max_position_embeddings", 64}};
  EXPECT_EQ(parse_model_config(json, "c").rope.factor, 4.0);
}

TEST(JsonFileTest, BareInfinityIsRead) {
  const nlohmann::json json = parse_json_text(R"({"time_step_limit": [0.0, Infinity], "s": "NaN \"Infinity\""})", "config.json", "RW-MODEL-002");
  EXPECT_EQ(json["time_step_limit"][1]["__float__"], "Infinity");
  EXPECT_EQ(json["s"], "NaN \"Infinity\"");
}

TEST(JsonFileTest, ANumberBeyondDoubleIsTold) {
  try {
    parse_json_text(R"({"vocab_size": 1e400})", "config.json", "RW-MODEL-002");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-MODEL-002");
    EXPECT_EQ(error.parts().what, "a number is too large");
  }
}

TEST(JsonFileTest, DeepNestingIsTold) {
  try {
    parse_json_text(std::string(200'000, '[') + std::string(200'000, ']'), "config.json", "RW-MODEL-002");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().what, "values are nested too deeply");
  }
}

TEST(JsonFileTest, SyntaxErrorHasLineAndColumn) {
  try {
    parse_json_text("{\n  \"a\": 1,\n  \"b\" 2\n}", "config.json", "RW-MODEL-002");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-MODEL-002");
    EXPECT_EQ(error.parts().where, "config.json:3:7");
  }
}

TEST(ReadModelConfigTest, MissingFolderAndMissingFileAreTold) {
  try {
    read_model_config("/nonexistent-folder");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-MODEL-001");
    EXPECT_THAT(error.parts().what, HasSubstr("does not exist"));
  }
}

}  // namespace
}  // namespace ringwright::model

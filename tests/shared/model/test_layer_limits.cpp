// Which layers of a model attend to a part of the sequence, in every way that configurations say it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "shared/layout/layout.h"
#include "shared/model/config.h"
#include "shared/model/context_parallel.h"
#include "shared/model/layer_limits.h"
#include "shared/model/parameters.h"
#include "tests/support/error_of.h"

namespace ringwright::model {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

LayerLimits limits_of(const char* text) { return read_layer_limits(json::parse(text), 3, "config.json"); }

TEST(LayerLimits, NoFieldOrANullMeansTheWholeSequence) {
  for (const char* text : {"{}", R"({"sliding_window": null})", R"({"sliding_window": 8, "use_sliding_window": false})",
                           R"({"model_type": "qwen2", "sliding_window": 8})", R"({"model_type": "mistral", "sliding_window": null})",
                           R"({"sliding_window": 8, "layer_types": ["full_attention", "full_attention", "full_attention"]})"}) {
    const LayerLimits limits = limits_of(text);
    EXPECT_FALSE(limits.any()) << text;
    EXPECT_THAT(limits.limited, IsEmpty());
    EXPECT_EQ(limits.window(1), 0);
    EXPECT_EQ(limits.first_layer(), -1);
  }
}

TEST(LayerLimits, LayersAreThoseOfTheListElseFromOneOnElseAll) {
  const LayerLimits listed = limits_of(R"({"sliding_window": 8, "layer_types": ["full_attention", "sliding_attention", "full_attention"]})");
  EXPECT_THAT(listed.limited, ElementsAre(false, true, false));
  EXPECT_EQ(listed.window(0), 0);
  EXPECT_EQ(listed.window(1), 8);
  EXPECT_EQ(listed.first_layer(), 1);
  EXPECT_FALSE(listed.all());
  EXPECT_THAT(limits_of(R"({"model_type": "qwen2", "sliding_window": 8, "use_sliding_window": true, "max_window_layers": 2})").limited,
              ElementsAre(false, false, true));
  const LayerLimits all = limits_of(R"({"model_type": "mistral", "sliding_window": 8})");
  EXPECT_TRUE(all.all());
  EXPECT_EQ(all.window(2), 8);
}

TEST(LayerLimits, DefaultsAreThoseOfTheFamilysClass) {
  EXPECT_EQ(limits_of(R"({"model_type": "mistral"})").size, 4096);
  EXPECT_FALSE(limits_of(R"({"model_type": "qwen2", "sliding_window": 8, "use_sliding_window": true})").any()) << "from layer 28 on";
  EXPECT_EQ(limits_of(R"({"attention_chunk_size": 16, "layer_types": ["chunked_attention", "full_attention", "full_attention"]})").kind,
            LayerLimits::Kind::chunk);
}

TEST(LayerLimits, WhatMakesNoSenseIsRefused) {
  for (const char* text : {R"({"sliding_window": 0})", R"({"sliding_window": "8"})", R"({"sliding_window": 8, "layer_types": ["sliding_attention"]})",
                           R"({"sliding_window": 8, "layer_types": 3})", R"({"sliding_window": 8, "max_window_layers": -1})"})
    EXPECT_EQ(test::error_code([&] { limits_of(text); }), "RW-MODEL-003") << text;
}

json small(const char* family, const char* class_name, const json& more = json::object()) {
  json config = {{"model_type", family},    {"architectures", {class_name}}, {"vocab_size", 16},         {"hidden_size", 8},
                 {"intermediate_size", 12}, {"num_hidden_layers", 3},        {"num_attention_heads", 2}, {"num_key_value_heads", 1}};
  config.update(more);
  return config;
}

TEST(Families, BiasesAndWindowsAreTheFamilys) {
  const ModelConfig mistral = parse_model_config(small("mistral", "MistralForCausalLM", {{"sliding_window", 4}, {"attention_bias", true}}), "c");
  EXPECT_FALSE(mistral.attention_bias) << "its projections have none, whatever the file says";
  EXPECT_EQ(mistral.limits.window(0), 4);
  EXPECT_EQ(mistral.max_position_embeddings, 131'072);
  const ModelConfig qwen2 = parse_model_config(small("qwen2", "Qwen2ForCausalLM"), "c");
  EXPECT_TRUE(qwen2.attention_bias);
  EXPECT_FALSE(qwen2.attention_output_bias);
  int64_t count = 0, biases = 0;
  for (const ParameterSpec& spec : parameter_specs(qwen2)) {
    int64_t size = 1;
    for (const int64_t axis : spec.shape) size *= axis;
    count += size;
    biases += spec.name.ends_with(".bias") ? 1 : 0;
  }
  EXPECT_EQ(biases, 3 * 3);
  EXPECT_EQ(count, qwen2.parameter_count());
  EXPECT_EQ(test::error_code([] { parse_model_config(small("qwen2", "LlamaForCausalLM"), "c"); }), "RW-MODEL-004") << "another family's class";
}

// Silence would train full attention.
TEST(Families, AttentionInChunksIsRefused) {
  EXPECT_EQ(test::error_code([] { parse_model_config(small("llama", "LlamaForCausalLM", {{"attention_chunk_size", 4}}), "c"); }), "RW-MODEL-003");
}

TEST(ContextParallelFamilies, NameFlavoursThatThereAre) {
  const std::vector<std::string>& flavours = layout::flavour_names();
  for (const ContextParallelFamily& family : context_parallel_families()) {
    for (const std::string_view flavour : {family.row_flavour, family.packed_flavour}) {
      EXPECT_TRUE(flavour.empty() || std::find(flavours.begin(), flavours.end(), flavour) != flavours.end()) << family.model_type;
    }
  }
}

}  // namespace
}  // namespace ringwright::model

// Policies beside a mesh, and the section of text that they are read from. The common cases are goldens (golden_cp); here: places, warnings, values.
#include "shared/mesh/setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"

namespace ringwright::mesh {
namespace {

using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ErrorParts section_refusal(const Options& section) {
  return refusal([&] { read_section(section); });
}

TEST(Setup, EveryOptionHasAValue) {
  SetupRequest request;
  request.sizes = {.pp = 2, .ep = 2};
  const DistributedSetup setup = build_setup(8, request);
  EXPECT_EQ(setup.strategy->options.at("mp_policy").at("reduce_dtype"), "float32");
  EXPECT_EQ(setup.pipeline->at("pp_schedule"), "1f1b");
  EXPECT_EQ(setup.pipeline->at("dtype"), "bfloat16");  // the activations' type
  EXPECT_EQ(setup.experts->at("wrap_outer_model"), true);
  EXPECT_EQ(setup.mesh.sizes().dp, 4);
}

TEST(Setup, APolicyWithoutItsSizeIsRefused) {
  SetupRequest request;
  request.pipeline = Options::object();
  EXPECT_EQ(refusal([&] { build_setup(8, request); }).code, "RW-SETUP-004");
  request.pipeline.reset();
  request.experts = Options::object();
  EXPECT_EQ(refusal([&] { build_setup(8, request); }).code, "RW-SETUP-005");
  request.sizes.ep = 2;
  request.experts = Options::object({{"nope", 1}});
  const ErrorParts parts = refusal([&] { build_setup(8, request); });
  EXPECT_EQ(parts.code, "RW-SETUP-002");
  EXPECT_EQ(parts.where, "moe.nope");
  EXPECT_THAT(parts.expected, HasSubstr("reshard_after_forward"));
}

TEST(Setup, ARankListAndAnExplicitMeshMakeSetupsToo) {
  SetupRequest request;
  request.sizes.cp = 2;
  EXPECT_THAT(build_setup(std::vector<int>{7, 5, 3, 1}, request).mesh.group("cp", 3), ElementsAre(3, 1));
  const DistributedSetup given = setup_of(Mesh::from_grid({{"cp"}, {2}, {0, 1}}));
  EXPECT_FALSE(given.strategy || given.pipeline || given.experts);
  EXPECT_EQ(given.mesh.sizes().cp, 2);
}

TEST(Setup, SelectiveCheckpointingNeedsFsdp2OrDdp) {
  SetupRequest request;
  request.activation_checkpointing = ActivationCheckpointing::selective;
  EXPECT_NO_THROW(build_setup(2, request));
  request.strategy.strategy = Strategy::ddp;
  EXPECT_NO_THROW(build_setup(2, request));
  request.strategy.strategy = Strategy::megatron_fsdp;
  EXPECT_EQ(refusal([&] { build_setup(2, request); }).code, "RW-SETUP-006");
}

TEST(Setup, WordsOfActivationCheckpointing) {
  for (const char* word : {"false", "Off", "none", "DISABLED", "no"})
    EXPECT_EQ(activation_checkpointing_from(word), ActivationCheckpointing::off) << word;
  for (const char* word : {"true", "on", "Full", "enabled", "yes"})
    EXPECT_EQ(activation_checkpointing_from(word), ActivationCheckpointing::full) << word;
  EXPECT_EQ(activation_checkpointing_from("Selective"), ActivationCheckpointing::selective);
  EXPECT_EQ(activation_checkpointing_from(true), ActivationCheckpointing::full);
  EXPECT_EQ(activation_checkpointing_from(nullptr), ActivationCheckpointing::off);
  for (const Options& other : {Options("maybe"), Options(1), Options::array(), Options("")})
    EXPECT_EQ(refusal([&] { activation_checkpointing_from(other); }).code, "RW-SETUP-003") << other;
}

TEST(Section, NullsAreDefaults) {
  const Section section = read_section({{"strategy", nullptr}, {"tp_size", nullptr}, {"mp_policy", nullptr}, {"moe", nullptr}, {"_target_", "x.y"}});
  EXPECT_EQ(section.request.strategy.strategy, Strategy::fsdp2);
  EXPECT_EQ(section.request.strategy.options.at("mp_policy").at("param_dtype"), "bfloat16");  // not none
  EXPECT_THAT(section.warnings, IsEmpty());
}

TEST(Section, WhatHasNoEffectIsSaid) {
  const Section section = read_section({{"dp_size", 0}, {"cp_size", -2}, {"pipeline", Options::object()}, {"moe", Options::object()}});
  EXPECT_THAT(section.warnings,
              ElementsAre(HasSubstr("dp = 0"), HasSubstr("cp = -2"), HasSubstr("pipeline is ignored"), HasSubstr("moe is ignored")));
  EXPECT_FALSE(section.request.pipeline || section.request.experts);
}

TEST(Section, SizesAreWholeNumbers) {
  for (const Options& value : {Options(2.5), Options("2"), Options(true), Options(uint64_t{1} << 63), Options(int64_t{1} << 40)})
    EXPECT_EQ(section_refusal({{"cp_size", value}}).code, "RW-SETUP-007") << value;
}

TEST(Section, PlacesAreTheCallers) {
  const auto place = [](const std::string& key) { return "recipe.yaml:7 " + key; };
  EXPECT_EQ(refusal([&] { read_section({{"cp_size", 2.5}}, place); }).where, "recipe.yaml:7 cp_size");
  const ErrorParts parts = refusal([&] { read_section({{"pp_size", 2}, {"pipeline", {{"dtype", "int7"}}}}, place); });
  EXPECT_EQ(parts.code, "RW-SETUP-001");
  EXPECT_EQ(parts.where, "recipe.yaml:7 pipeline.dtype");
}

TEST(Section, OptionsBelongToTheirStrategy) {
  EXPECT_EQ(section_refusal({{"zero_dp_strategy", 2}}).code, "RW-SETUP-009");
  EXPECT_EQ(read_section({{"strategy", "MFSDP"}, {"zero_dp_strategy", 2}}).request.strategy.options.at("zero_dp_strategy"), 2);
  EXPECT_EQ(section_refusal({{"strategy", "zero3"}}).code, "RW-MESH-010");
  EXPECT_EQ(section_refusal({{"strategy", 7}}).code, "RW-SETUP-001");
  EXPECT_EQ(section_refusal({{"pp_size", 2}}).code, "RW-SETUP-008");
  EXPECT_EQ(section_refusal({{"pp_size", 2}, {"pipeline", {{"nope", 1}}}}).code, "RW-SETUP-002");
  EXPECT_EQ(section_refusal(Options::array()).code, "RW-SETUP-001");
}

struct ValueCase {
  const char* option;
  Options value, expected;  // expected null: refused
};

TEST(Section, ValuesComeInOneSpelling) {
  const std::vector<ValueCase> cases = {
      {"autocast_dtype", "torch.bfloat16", "bfloat16"},
      {"autocast_dtype", "fp32", "float32"},
      {"autocast_dtype", "int8", nullptr},
      {"activation_checkpointing_scope", "Language+vision", {"language", "vision"}},
      {"activation_checkpointing_scope", "auto", Options::array({"all"})},
      {"activation_checkpointing_scope", Options::array({"all", "audio"}), nullptr},
      {"activation_checkpointing_scope", "smell", nullptr},
      {"sequence_parallel", 1, nullptr},
      {"fsdp2_forward_prefetch_depth", -1, nullptr},
      {"tp_plan", "auto", nullptr},
      {"mp_policy", "bf16", nullptr},
      {"mp_policy", {{"param_dtype", "bf16"}, {"colour", "red"}}, nullptr},
      {"mp_policy", {{"cast_forward_inputs", "yes"}}, nullptr},
  };
  for (const ValueCase& row : cases) {
    if (row.expected.is_null()) {
      EXPECT_EQ(section_refusal({{row.option, row.value}}).code, "RW-SETUP-001") << row.option << " " << row.value;
    } else {
      EXPECT_EQ(read_section({{row.option, row.value}}).request.strategy.options.at(row.option), row.expected) << row.value;
    }
  }
}

// The stages' type follows the strategy; another one is kept, and said.
TEST(Section, ThePipelinesType) {
  Options section = {{"pp_size", 2}, {"pipeline", Options::object()}, {"mp_policy", {{"param_dtype", "fp16"}}}};
  EXPECT_EQ(build_setup(4, read_section(section).request).pipeline->at("dtype"), "float16");
  section["pipeline"]["dtype"] = "float32";
  const Section other = read_section(section);
  EXPECT_THAT(other.warnings, ElementsAre(HasSubstr("float32")));
  EXPECT_EQ(build_setup(4, other.request).pipeline->at("dtype"), "float32");
}

}  // namespace
}  // namespace ringwright::mesh

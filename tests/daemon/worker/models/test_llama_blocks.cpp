// The fused blocks against the composed ones, forward and backward; rope and local attention against plain formulas.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "daemon/worker/models/llama_blocks.h"
#include "daemon/worker/models/local_attention.h"
#include "daemon/worker/models/rope.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

constexpr int64_t kTokens = 37, kHidden = 48, kHeadDim = 16, kQueryHeads = 6, kKeyHeads = 2, kWidth = 80;
constexpr double kEps = 1e-5;

at::Tensor parameter(at::IntArrayRef shape, double scale = 0.2) { return (at::randn(shape) * scale).requires_grad_(true); }

model::ModelConfig config_of(const nlohmann::json& json) { return model::parse_model_config(json, "config"); }

RopeTable some_rope() {
  nlohmann::json json = {{"model_type", "llama"},
                         {"vocab_size", 8},
                         {"hidden_size", kHidden},
                         {"intermediate_size", kWidth},
                         {"num_hidden_layers", 1},
                         {"num_attention_heads", kQueryHeads},
                         {"num_key_value_heads", kKeyHeads},
                         {"head_dim", kHeadDim}};
  return make_rope_table(config_of(json), at::arange(kTokens, at::kLong), kTokens);
}

void expect_close(const at::Tensor& a, const at::Tensor& b, const std::string& what) {
  EXPECT_LE((a - b).abs().max().item<double>(), 2e-5 * std::max(1.0, b.abs().max().item<double>())) << what;
}

// Runs `block` twice on the same leaves and compares outputs and the gradients of all leaves for the same random output gradients.
using Block = std::function<std::vector<at::Tensor>(bool fused)>;
void compare(const std::vector<at::Tensor>& leaves, const Block& block) {
  std::vector<at::Tensor> outputs[2], gradients[2], directions;
  for (const bool fused : {false, true}) {
    outputs[fused] = block(fused);
    if (!fused)
      for (const at::Tensor& output : outputs[0]) directions.push_back(at::randn_like(output));
    at::Tensor sum = at::zeros({});
    for (size_t i = 0; i < outputs[fused].size(); ++i) sum = sum + (outputs[fused][i] * directions[i]).sum();
    sum.backward();
    for (const at::Tensor& leaf : leaves) gradients[fused].push_back(leaf.grad().clone()), leaf.mutable_grad().reset();
  }
  for (size_t i = 0; i < outputs[0].size(); ++i) expect_close(outputs[1][i].detach(), outputs[0][i].detach(), "output " + std::to_string(i));
  for (size_t i = 0; i < leaves.size(); ++i) expect_close(gradients[1][i], gradients[0][i], "gradient " + std::to_string(i));
}

class LlamaBlocks : public ::testing::TestWithParam<bool> {  // with biases?
 protected:
  void SetUp() override { at::manual_seed(7); }
  at::Tensor bias(int64_t size) { return GetParam() ? leaves_.emplace_back(parameter({size})) : at::Tensor(); }
  at::Tensor leaf(at::IntArrayRef shape) { return leaves_.emplace_back(parameter(shape)); }
  std::vector<at::Tensor> leaves_;
};

TEST_P(LlamaBlocks, NormFusedEqualsComposed) {
  const at::Tensor x = leaf({kTokens, kHidden}), weight = leaf({kHidden});
  compare(leaves_, [&](bool fused) { return std::vector{fused ? rms_norm(x, weight, kEps) : rms_norm_composed(x, weight, kEps)}; });
}

TEST_P(LlamaBlocks, AttentionInputsFusedEqualComposed) {
  const at::Tensor x = leaf({kTokens, kHidden});
  AttentionInputWeights weights{leaf({kHidden}),
                                leaf({kQueryHeads * kHeadDim, kHidden}),
                                leaf({kKeyHeads * kHeadDim, kHidden}),
                                leaf({kKeyHeads * kHeadDim, kHidden}),
                                {},
                                {},
                                {}};
  weights.q_bias = bias(kQueryHeads * kHeadDim), weights.k_bias = bias(kKeyHeads * kHeadDim), weights.v_bias = bias(kKeyHeads * kHeadDim);
  const RopeTable rope = some_rope();
  compare(leaves_, [&](bool fused) {
    const auto inputs = fused ? attention_inputs(x, weights, rope, kHeadDim, kEps) : attention_inputs_composed(x, weights, rope, kHeadDim, kEps);
    return std::vector{inputs.q_THD, inputs.k_TKD, inputs.v_TKD};
  });
}

TEST_P(LlamaBlocks, MlpFusedEqualsComposed) {
  const at::Tensor x = leaf({kTokens, kHidden});
  MlpWeights weights{leaf({kHidden}), leaf({kWidth, kHidden}), leaf({kWidth, kHidden}), leaf({kHidden, kWidth}), {}, {}, {}};
  weights.gate_bias = bias(kWidth), weights.up_bias = bias(kWidth), weights.down_bias = bias(kHidden);
  compare(leaves_, [&](bool fused) { return std::vector{fused ? mlp_residual(x, weights, kEps) : mlp_residual_composed(x, weights, kEps)}; });
}

INSTANTIATE_TEST_SUITE_P(Bias, LlamaBlocks, ::testing::Bool());

TEST(LlamaBlocksEdge, SiluIsRightFarFromZero) {
  at::Tensor x = at::tensor({-200.0f, -90.0f, -20.0f, 0.0f, 20.0f, 90.0f, 200.0f}).reshape({7, 1});
  MlpWeights weights{at::ones({1}), at::ones({1, 1}), at::ones({1, 1}), at::ones({1, 1}), {}, {}, {}};
  const at::Tensor gate = at::tensor({300.0f}).reshape({1, 1});
  weights.gate_Fd = gate;
  expect_close(mlp_residual(x, weights, 1e-6), mlp_residual_composed(x, weights, 1e-6), "silu");
}

TEST(Rope, EqualsTransformers) {
  std::ifstream stream(std::string(RINGWRIGHT_SOURCE_DIR) + "/tests/data/training/rope.json");
  ASSERT_TRUE(stream);
  const nlohmann::json data = nlohmann::json::parse(stream);
  ASSERT_EQ(data["cases"].size(), 9u);
  for (const nlohmann::json& one : data["cases"]) {
    const int64_t length = one["length"];
    const RopeTable table = make_rope_table(config_of(one["config"]), at::arange(length, at::kLong), length);
    for (size_t row = 0; row < one["rows"].size(); ++row) {
      const int64_t t = one["rows"][row];
      EXPECT_TRUE(at::allclose(table.cos_Th[t], at::tensor(one["cos"][row].get<std::vector<float>>()), 0, 2e-5)) << one["name"] << " cos " << t;
      EXPECT_TRUE(at::allclose(table.sin_Th[t], at::tensor(one["sin"][row].get<std::vector<float>>()), 0, 2e-5)) << one["name"] << " sin " << t;
    }
  }
}

// A token is turned by its own position, wherever it stands: global ones in a shard's order, document positions that restart in a pack.
TEST(Rope, TakesPositionsTokenByToken) {
  model::ModelConfig config;
  config.head_dim = 8;
  const RopeTable line = make_rope_table(config, at::arange(12, at::kLong), 12);
  const at::Tensor positions_BL = at::tensor({0, 1, 10, 11, 0, 1, 2, 0}, at::kLong).unsqueeze(0);
  const RopeTable mixed = make_rope_table(config, positions_BL, 12);
  EXPECT_TRUE(at::equal(mixed.cos_Th, line.cos_Th.index_select(0, positions_BL.flatten())));
  EXPECT_TRUE(at::equal(mixed.sin_Th, line.sin_Th.index_select(0, positions_BL.flatten())));
}

at::Tensor naive_attention(const at::Tensor& q, const at::Tensor& k_in, const at::Tensor& v_in, bool causal, double scale) {
  const int64_t group = q.size(1) / k_in.size(1), length = q.size(2);
  const at::Tensor k = k_in.repeat_interleave(group, 1), v = v_in.repeat_interleave(group, 1);
  at::Tensor scores = at::matmul(q, k.transpose(-1, -2)) * scale;
  if (causal) scores = scores.masked_fill(at::ones({length, length}).triu(1).to(at::kBool), -INFINITY);
  return at::matmul(scores.softmax(-1), v);
}

TEST(LocalAttention, GroupedHeadsAndPackedDocumentsEqualThePlainFormula) {
  at::manual_seed(3);
  const at::Tensor q = parameter({1, 6, 20, 8}, 1), k = parameter({1, 2, 20, 8}, 1), v = parameter({1, 2, 20, 8}, 1);
  layout::Mask mask;
  mask.document_offsets = {0, 7, 8, 20};
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < 3; ++i) {
    const auto part = [&](const at::Tensor& x) { return x.slice(2, mask.document_offsets[i], mask.document_offsets[i + 1]); };
    parts.push_back(naive_attention(part(q), part(k), part(v), true, 0.3));
  }
  const at::Tensor direction = at::randn({1, 6, 20, 8}), wanted = at::cat(parts, 2), got = local_attention(q, k, v, mask, 0.3);
  expect_close(got.detach(), wanted.detach(), "output");
  (wanted * direction).sum().backward();
  const at::Tensor wanted_k = k.grad().clone();
  k.mutable_grad().reset();
  (got * direction).sum().backward();
  expect_close(k.grad(), wanted_k, "key gradient");
}

TEST(LocalAttention, OffsetsThatDoNotFitAreRefused) {
  const at::Tensor q = at::zeros({1, 2, 4, 8});
  for (const std::vector<int64_t>& offsets : {std::vector<int64_t>{0, 5}, {1, 4}, {0, 3, 2, 4}}) {
    layout::Mask mask;
    mask.document_offsets = offsets;
    EXPECT_THROW(local_attention(q, q, q, mask, 1), Error);
  }
}

}  // namespace
}  // namespace ringwright::worker

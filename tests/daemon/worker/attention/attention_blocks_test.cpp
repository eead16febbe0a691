// Which layers of a model hold the CP group: counted from what each layer was given, not assumed.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/llama_model.h"
#include "daemon/worker/models/local_attention.h"
#include "shared/base/error.h"
#include "shared/model/families.h"
#include "shared/model/parameters.h"

namespace ringwright::worker {
namespace {

LlamaModel small_model() {
  model::ModelConfig config;
  config.model_type = "llama";
  config.vocab_size = 11;
  config.hidden_size = 8;
  config.intermediate_size = 12;
  config.num_hidden_layers = 4;
  config.num_attention_heads = 2;
  config.num_key_value_heads = 1;
  config.head_dim = 4;
  config.max_position_embeddings = 64;
  TensorMap parameters;
  for (const model::ParameterSpec& spec : model::parameter_specs(config)) parameters[spec.name] = at::full(spec.shape, 0.1, at::kFloat);
  return LlamaModel(config, parameters);
}

LayerAttentions over_two_ranks() {
  ProcessGroup group;
  group.size = 2;
  group.global_ranks = {0, 1};
  return make_attention("ring", layout::make_layout("round_robin", 2), group);
}

TEST(AttentionBlocks, EveryLayerHoldsTheGroup) {
  const LlamaModel model = small_model();
  const int64_t wanted = model::attention_block_count(model.config());
  EXPECT_EQ(wanted, 4);
  EXPECT_EQ(model.attention_blocks_over(over_two_ranks(), 2), wanted);
  EXPECT_EQ(model.attention_blocks_over(local_attention, 1), wanted);
  EXPECT_NO_THROW(check_attention_blocks(wanted, wanted, 2));
}

TEST(AttentionBlocks, OneLayerWithoutTheGroupIsAnErrorWithItsNumbers) {
  const LlamaModel model = small_model();
  LayerAttentions attentions = over_two_ranks();
  attentions.set(2, local_attention);
  const int64_t holding = model.attention_blocks_over(attentions, 2);
  EXPECT_EQ(holding, 3);
  try {
    check_attention_blocks(holding, model::attention_block_count(model.config()), 2);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-CP-004");
    EXPECT_NE(error.parts().what.find("3 of 4"), std::string::npos) << error.parts().what;
  }
}

// The layer that was set apart is the one that calls its own function.
TEST(AttentionBlocks, ALayerCallsTheFunctionThatItWasGiven) {
  const LlamaModel model = small_model();
  std::vector<int> calls;
  const auto counting = [&](int which) {
    return [&calls, which](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const layout::Mask& mask, double scale) {
      calls.push_back(which);
      return local_attention(q, k, v, mask, scale);
    };
  };
  LayerAttentions attentions(counting(0));
  attentions.set(2, counting(1));
  model.forward_hidden(at::zeros({1, 3}, at::kLong), at::arange(3).unsqueeze(0), attentions, {});
  EXPECT_EQ(calls, (std::vector<int>{0, 0, 1, 0}));
}

// T04: in a one-layer model whose layer has a window, token 0 reaches the positions below the window and none from there on.
TEST(AttentionBlocks, T04AWindowOfTheModelIsApplied) {
  model::ModelConfig config = small_model().config();
  config.num_hidden_layers = 1;
  config.limits = {model::LayerLimits::Kind::window, "sliding_window", 4, {true}};
  at::manual_seed(3);
  TensorMap parameters;
  for (const model::ParameterSpec& spec : model::parameter_specs(config)) parameters[spec.name] = at::randn(spec.shape, at::kFloat);
  const LlamaModel model(config, parameters);
  const at::NoGradGuard no_grad;
  const auto hidden_Ld = [&](int64_t first_token) {
    at::Tensor ids = at::full({1, 9}, 5, at::kLong);
    ids[0][0] = first_token;
    return model.forward_hidden(ids, at::arange(9).unsqueeze(0), AttentionFunction(local_attention), {})[0];
  };
  const at::Tensor one = hidden_Ld(1), other = hidden_Ld(2);
  for (int64_t position = 0; position < 9; ++position) EXPECT_EQ(at::equal(one[position], other[position]), position >= 4) << position;
}

}  // namespace
}  // namespace ringwright::worker

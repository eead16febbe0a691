// The numbers are worked out by hand from the sizes of one small model.
#include "shared/estimate/estimate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shared/estimate/logits_chunk.h"

namespace ringwright::estimate {
namespace {

// One layer has 2 x 8 + 8 x (2 x 8 + 2 x 4) + 3 x 8 x 16 = 592 parameters; both, the last norm (8), embedding and head (2 x 800): 2,792.
model::ModelConfig small_model(const char* dtype = "bfloat16") {
  return model::parse_model_config({{"model_type", "llama"},
                                    {"vocab_size", 100},
                                    {"hidden_size", 8},
                                    {"intermediate_size", 16},
                                    {"num_hidden_layers", 2},
                                    {"num_attention_heads", 2},
                                    {"num_key_value_heads", 1},
                                    {"max_position_embeddings", 64},
                                    {"dtype", dtype}},
                                   "config.json");
}

TEST(Estimate, TermsOfOneRankWithTenTokens) {
  const Estimate estimate = estimate_step(small_model(), {.tokens = 10});
  EXPECT_EQ(estimate.term("parameters").bytes, 4 * 2792);
  EXPECT_EQ(estimate.term("gradients").bytes, 4 * 2792);
  EXPECT_EQ(estimate.term("optimizer").bytes, 8 * 2792);
  // A token keeps 84 values in each of two layers (2 x 8 + 3 x 8 + 2 x 4 + 2 x 16 + 2 + 2), 64 in one layer's backward and 24 at the ends.
  EXPECT_EQ(estimate.term("activations").bytes, 4 * 10 * (2 * 84 + 64 + 24));
  // All ten tokens are one chunk: 10 x 100 logits, the head's gradient 100 x 8, the hidden states' 10 x 8.
  EXPECT_EQ(estimate.term("logits").bytes, 4 * (1000 + 800 + 80));
  EXPECT_EQ(estimate.term("KV blocks").bytes, 0);
  EXPECT_EQ(estimate.memory_bytes(), 62432);
}

TEST(Estimate, KeysAndValuesOfOtherRanksByMethod) {
  const auto bytes = [](const char* method) {
    return estimate_step(small_model(), {.tokens = 5, .cp = 2, .method = method}).term("KV blocks").bytes;
  };
  EXPECT_EQ(bytes("ring"), 4 * 8 * 5 * 4);
  EXPECT_EQ(bytes("all_gather"), 4 * 4 * 2 * 5 * 4);
  EXPECT_EQ(bytes("ranged"), bytes("all_gather"));
  EXPECT_EQ(bytes("all_to_all"), 4 * 2 * 5 * (2 * 8 + 2 * 4));
  EXPECT_EQ(bytes("auto"), bytes("ring"));
}

TEST(Estimate, AnotherContextRankHalvesActivationsAndKeepsTheRest) {
  const Estimate one = estimate_step(small_model(), {.tokens = 64}), two = estimate_step(small_model(), {.tokens = 32, .cp = 2});
  EXPECT_EQ(one.term("activations").bytes, 2 * two.term("activations").bytes);
  EXPECT_EQ(one.term("parameters").bytes, two.term("parameters").bytes);
  EXPECT_EQ(one.term("optimizer").bytes, two.term("optimizer").bytes);
}

TEST(Estimate, ACheckpointHasTheTypeOfTheModelsFile) {
  EXPECT_EQ(estimate_step(small_model("bfloat16"), {.tokens = 1}).checkpoint_bytes, 2 * 2792);
  EXPECT_EQ(estimate_step(small_model("float32"), {.tokens = 1}).checkpoint_bytes, 4 * 2792);
}

TEST(Estimate, LogitsOfALongSequenceAreOneChunk) {
  EXPECT_EQ(logits_chunk_rows(128256), 128);
  EXPECT_EQ(logits_chunk_rows(32000), 512);
  EXPECT_EQ(logits_chunk_rows(0), 16777216);
  const Estimate estimate = estimate_step(small_model(), {.tokens = 1'000'000});
  EXPECT_EQ(estimate.term("logits").bytes, 4 * (167680LL * 100 + 800 + 8'000'000));
}

TEST(Estimate, TokensOfARank) {
  EXPECT_EQ(tokens_per_rank({.length = 10, .micro_batch = 3}), 30);
  EXPECT_EQ(tokens_per_rank({.length = 10, .micro_batch = 3, .cp = 4, .divisor = 8}), 12);                           // 3 rows of 16 slots
  EXPECT_EQ(tokens_per_rank({.length = 10, .micro_batch = 3, .pack_tokens = 100, .cp = 4, .divisor = 8}), 26);       // a pack of 104
  EXPECT_EQ(tokens_per_rank({.length = 10, .micro_batch = 3, .microbatch_tokens = 30, .cp = 4, .divisor = 8}), 8);   // 32 tokens
  EXPECT_EQ(tokens_per_rank({.length = 40, .micro_batch = 1, .microbatch_tokens = 30, .cp = 4, .divisor = 8}), 10);  // the longest row
}

TEST(Estimate, OperationsAreSixAWeightAndToken) {
  model::ModelConfig model = small_model();
  const int64_t embedding = model.vocab_size * model.hidden_size;
  model.tie_word_embeddings = false;
  EXPECT_EQ(training_flops_min(model, 10), 60.0 * static_cast<double>(model.parameter_count() - embedding));
  model.tie_word_embeddings = true;
  EXPECT_EQ(training_flops_min(model, 10), 60.0 * static_cast<double>(model.parameter_count()));
}

TEST(Estimate, FormulasNameTheirNumbers) {
  const Estimate estimate = estimate_step(small_model(), {.tokens = 10});
  EXPECT_NE(estimate.term("parameters").formula.find("2,792"), std::string::npos);
  EXPECT_THROW(estimate.term("nothing"), std::out_of_range);
}

TEST(Estimate, BytesBeyond64BitsStayTheMost) {
  const int64_t rows = (int64_t{1} << 31) - 1;
  const int64_t tokens = tokens_per_rank({.length = rows, .micro_batch = rows, .cp = 2, .divisor = 4});
  EXPECT_EQ(tokens, (int64_t{1} << 31) * rows / 2);
  const Estimate estimate = estimate_step(small_model(), {.tokens = tokens, .cp = 2, .method = "all_gather"});
  for (const char* term : {"activations", "KV blocks"}) EXPECT_EQ(estimate.term(term).bytes, INT64_MAX) << term;
  EXPECT_EQ(estimate.memory_bytes(), INT64_MAX);
}

}  // namespace
}  // namespace ringwright::estimate

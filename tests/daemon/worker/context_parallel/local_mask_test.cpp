// Arguments of local masks, and a model's own cut of its stream; which key a query sees is in the goldens (golden_cp, "dsv4_packed_mask",
// "dsv4_plain_mask", "shard_sequence_in_forward").
#include "daemon/worker/context_parallel/local_mask.h"

#include <gmock/gmock.h>

#include <limits>

#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/sharder.h"
#include "tests/daemon/worker/context_parallel/shard_support.h"

namespace ringwright::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(LocalMask, ErrorsNameTheNumbers) {
  const auto refused = [](const GlobalTokens& tokens, int cp, int rank, std::optional<int64_t> window = {}) {
    return error_text([&] { local_mask(tokens, cp, rank, window); });
  };
  const at::Tensor positions = row({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(refused({positions, {}, {}}, 3, 2), "");
  EXPECT_THAT(refused({positions, {}, {}}, 4, 0), AllOf(HasSubstr("1, 6"), HasSubstr("cp = 4")));
  EXPECT_THAT(refused({positions, {}, {}}, 2, 2), HasSubstr("rank 2"));
  EXPECT_THAT(refused({positions, {}, {}}, 2, 0, 0), HasSubstr("window of 0"));
  EXPECT_THAT(refused({positions, row({1, 1}), {}}, 2, 0), AllOf(HasSubstr("1, 2"), HasSubstr("1, 6")));
  EXPECT_THAT(refused({positions, {}, row({0})}, 2, 0), HasSubstr("1, 1"));
}

TEST(LocalMask, AdditiveFormBlocksWithTheLowestFiniteValue) {
  const at::Tensor visible = row({1, 0}).to(at::kBool);
  EXPECT_EQ(additive_mask(visible, at::kFloat)[0][1].item<double>(), std::numeric_limits<float>::lowest());
  EXPECT_EQ(additive_mask(visible, at::kDouble)[0][1].item<double>(), std::numeric_limits<double>::lowest());
  EXPECT_EQ(additive_mask(visible, at::kBFloat16)[0][0].item<double>(), 0);
}

// The tokens that the model cuts itself and those that the sharder cut around them lie at the same positions.
TEST(Gemma4, TheModelsOwnCutFitsTheSharders) {
  const Batch batch = {
      {"input_ids", row({1, 2, 3, 4, 5, 6, 7})}, {"labels", row({1, 2, 3, 4, 5, 6, 7})}, {"attention_mask", row({1, 1, 1, 1, 1, 1, 0})}};
  for (int rank = 0; rank < 2; ++rank) {
    Sharder sharder(make_gemma4_strategy(2, {}), member(rank, 2));
    const Batch local = sharder.shard(batch);
    EXPECT_TRUE(local.at("input_ids").is_same(batch.at("input_ids")));
    const InModelCut cut = cut_in_model(batch.at("input_ids"), 1, -100, *sharder.layout(), rank);
    EXPECT_TRUE(at::equal(cut.local, local.at("labels")));
    EXPECT_EQ(cut.padded_length, 8);
    EXPECT_EQ(longs(local.at("_packed_seq_ids")), rank == 0 ? (Longs{1, 1, 1, 1}) : (Longs{1, 1, 0, 0}));
  }
  EXPECT_EQ(error_code([] { cut_in_model(at::zeros({2, 4}), 2, 0, *layout::make_layout("contiguous", 2), 0); }), "RW-SHARD-001");
}

}  // namespace
}  // namespace ringwright::worker

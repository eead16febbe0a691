// Mamba's exchanges beside the goldens: any layout comes back, gradients of parameter slices add up to the full gradient, and what does not spread
// over the ranks is refused.
#include "daemon/worker/context_parallel/mamba_exchange.h"

#include <gmock/gmock.h>

#include "daemon/worker/parallel/collectives.h"
#include "tests/daemon/worker/context_parallel/shard_support.h"
#include "tests/daemon/worker/support/rank_threads.h"

namespace ringwright::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr layout::MambaShape kShape = {.heads = 12, .head_size = 2, .groups = 2, .state = 3};
constexpr int64_t kInner = 24, kChannels = 2 * (24 + 6) + 12;

struct LayoutCase {
  const char* name;
  layout::Options options;
};

at::Tensor local_part(const at::Tensor& global, const layout::Layout& layout, int rank) {
  return global.index_select(-2, at::tensor(layout.local_token_global_indices(global.size(-2), rank), at::kLong));
}

// pre gives the sections of the whole sequence in global order, whatever the layout; post brings the x section back.
TEST(MambaExchange, EveryLayoutComesIntoGlobalOrderAndBack) {
  const at::Tensor global = at::randn({2, 16, kChannels}, at::kDouble);
  const std::vector<LayoutCase> cases = {{"round_robin", {}}, {"contiguous", {}}, {"thd", {.document_offsets = {0, 4, 4, 16}}}};
  for (const LayoutCase& one : cases) {
    test::run_on_threads(2, [&](const ProcessGroups& ranks) {
      const ProcessGroup& cp = ranks.group("cp");
      const std::shared_ptr<const layout::Layout> layout = layout::make_layout(one.name, 2, one.options);
      const MambaExchange exchange(kShape, layout, cp);
      const at::Tensor local = local_part(global, *layout, cp.rank), pre = exchange.pre(local);
      const at::Tensor x = pre.narrow(-1, kInner / 2, kInner / 2);
      EXPECT_TRUE(at::equal(x, global.narrow(-1, kInner + cp.rank * kInner / 2, kInner / 2))) << one.name;
      EXPECT_TRUE(at::equal(exchange.post(x), local.narrow(-1, kInner, kInner))) << one.name;
    });
  }
}

TEST(MambaExchange, OneRankChangesNothing) {
  const MambaExchange exchange(kShape, layout::make_layout("round_robin", 1), ProcessGroup{});
  const at::Tensor projected = at::randn({1, 6, kChannels});
  EXPECT_TRUE(at::equal(exchange.pre(projected), projected));
  const at::Tensor scanned = at::randn({1, 6, kInner});
  EXPECT_TRUE(at::equal(exchange.post(scanned), scanned));
}

// Each rank's gradient of its slice, summed over the ranks, is the gradient of the whole; groups that ranks share are counted once a rank.
TEST(MambaExchange, GradientsOfSlicesAddUp) {
  for (const int cp : {1, 2, 4}) {
    const at::Tensor weight = at::ones({kInner + 12, 1, 4}).requires_grad_(), heads = at::ones({12}).requires_grad_();
    for (int rank = 0; rank < cp; ++rank) {
      const MambaParameters parameters(kShape, cp, rank);
      const at::Tensor slice = parameters.convolution(weight);
      EXPECT_EQ(slice.dim(), 2);
      slice.sum().backward();
      parameters.per_head(heads).sum().backward();
    }
    EXPECT_TRUE(at::equal(heads.grad(), at::ones({12})));
    EXPECT_TRUE(at::equal(weight.grad().narrow(0, 0, kInner), at::ones({kInner, 1, 4})));
    EXPECT_TRUE(at::equal(weight.grad().narrow(0, kInner, 12), at::full({12, 1, 4}, std::max(1, cp / 2))));
  }
}

TEST(MambaExchange, RefusesWhatDoesNotSpread) {
  const auto exchange = [](const layout::MambaShape& shape, int cp, const char* name = "round_robin") {
    return error_text([&] { MambaExchange(shape, layout::make_layout(name, cp), member(0, cp)); });
  };
  EXPECT_THAT(exchange({.heads = 7}, 2), AllOf(HasSubstr("7"), HasSubstr("2")));
  EXPECT_THAT(exchange({.heads = 12, .groups = 3}, 2), AllOf(HasSubstr("3"), HasSubstr("2")));
  EXPECT_THAT(exchange({.heads = 12, .groups = 3}, 4), AllOf(HasSubstr("3"), HasSubstr("4")));
  EXPECT_EQ(exchange({.heads = 12, .groups = 4}, 2), "");
  EXPECT_EQ(error_code([] { MambaExchange(kShape, layout::make_layout("round_robin", 4), member(0, 2)); }), "RW-SHARD-004");
  EXPECT_EQ(error_code([] { context_to_hidden_parallel(at::zeros({1, 4, 5}), member(0, 2)); }), "RW-SHARD-001");
  EXPECT_EQ(error_code([] { hidden_to_context_parallel(at::zeros({1, 5, 4}), member(0, 2)); }), "RW-SHARD-001");
  const MambaExchange known(kShape, layout::make_layout("round_robin", 1), ProcessGroup{});
  EXPECT_EQ(error_code([&] { known.pre(at::zeros({1, 4, kChannels - 1})); }), "RW-SHARD-001");
  EXPECT_EQ(error_code([] { MambaParameters(kShape, 2, 0).per_head(at::zeros({11})); }), "RW-SHARD-001");
  EXPECT_EQ(error_code([] { MambaParameters(kShape, 2, 0).convolution(at::zeros({11})); }), "RW-SHARD-001");
}

// Tokens that every rank holds cannot come into global order by an exchange.
TEST(MambaExchange, RefusesALayoutThatKeepsEverythingEverywhere) {
  std::string code;
  test::run_on_threads(2, [&](const ProcessGroups& ranks) {
    const ProcessGroup& cp = ranks.group("cp");
    const MambaExchange exchange(kShape, layout::make_layout("none", 2), cp);
    const std::string own = error_code([&] { exchange.pre(at::zeros({1, 4, kChannels})); });
    if (cp.rank == 0) code = own;
  });
  EXPECT_EQ(code, "RW-MAMBA-002");
}

TEST(MambaSequenceIndex, UsesWhatIsGivenFirst) {
  const at::Tensor given = at::zeros({1, 3}, at::kInt), offsets = at::tensor({0, 2, 4}, at::kInt), padded = at::tensor({0, 3, 4}, at::kInt);
  EXPECT_TRUE(mamba_sequence_index({given, offsets, padded}, std::nullopt, 2, 2).is_same(given));
  EXPECT_EQ(longs(mamba_sequence_index({{}, offsets, padded}, std::nullopt, 2, 2)), (Longs{0, 0, 0, 1}));
  EXPECT_EQ(longs(mamba_sequence_index({{}, offsets, {}}, std::nullopt, 2, 2)), (Longs{0, 0, 1, 1}));
  EXPECT_EQ(mamba_sequence_index({{}, offsets, {}}, 3, 2, 2).sizes().vec(), (Longs{3, 4}));
  EXPECT_FALSE(mamba_sequence_index({}, std::nullopt, 2, 2).defined());
}

}  // namespace
}  // namespace ringwright::worker

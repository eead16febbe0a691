// What methods of attention cost by the model, and which one is taken.
#include "shared/layout/method_cost.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "shared/layout/methods.h"
#include "shared/layout/traffic.h"
#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using testing::HasSubstr;

// Pair by pair.
int64_t count_keys_read(const Layout& layout, const Mask& mask, int64_t length, int rank) {
  const std::vector<int64_t> own = layout.local_token_global_indices(length, rank);
  const std::set<int64_t> held(own.begin(), own.end());
  int64_t count = 0;
  for (int64_t k = 0; k < length; ++k) {
    count += !held.contains(k) && std::any_of(own.begin(), own.end(), [&](int64_t q) { return sees(mask, q, k); }) ? 1 : 0;
  }
  return count;
}

TEST(MethodCost, KeysReadAreCountedRight) {
  EXPECT_TRUE(rc::check("keys read of others", [] {
    const int cp = *rc::gen::inRange(1, 5);
    const auto layout = make_layout(*rc::gen::element(std::string("round_robin"), std::string("contiguous")), cp);
    const int64_t length = layout->padded_length(*rc::gen::inRange<int64_t>(0, 120));
    const MaskArea area(any_mask(length), length);
    for (int rank = 0; rank < cp; ++rank) {
      RC_ASSERT(keys_read_of_others(*layout, area, length, rank) == count_keys_read(*layout, area.mask(), length, rank));
    }
  }));
}

struct Case {
  std::unique_ptr<Layout> layout;
  MaskArea area;
  AttentionLoad load() const { return {.layout = *layout, .area = area, .padded_length = area.length(), .heads = heads}; }
  HeadCounts heads = {8, 8};
};

Case causal(const char* layout, int cp, int64_t length, HeadCounts heads = {8, 8}, Mask mask = {}) {
  return {make_layout(layout, cp), MaskArea(mask, length), heads};
}

const MethodCost& cost_of(const std::vector<MethodCost>& costs, std::string_view method) {
  for (const MethodCost& each : costs) {
    if (each.method == method) return each;
  }
  throw std::out_of_range(std::string(method));
}

// The model's terms by hand: 8192 tokens on two ranks, 8 heads of 64, float32.
TEST(MethodCost, TermsAreThoseOfTheTable) {
  const Case c = causal("round_robin", 2, 8192);
  const AttentionRates rates{.flops_per_s = 1e9, .bytes_per_s = 1e6, .copy_bytes_per_s = 1e6, .message_s = 0, .call_s = 0};
  const std::vector<MethodCost> costs = method_costs(c.load(), rates);
  const double pairs = 8192.0 * 8193 / 2 / 2;
  EXPECT_NEAR(cost_of(costs, "all_to_all").compute_s, pairs * 4 * 64 * 8 * 3.5 / 1e9, 1e-6);
  EXPECT_EQ(cost_of(costs, "all_gather").bytes, 4096 * (2 * 4096 + 4096));
  EXPECT_EQ(cost_of(costs, "all_to_all").bytes, 2048 * (4 * 2048 + 2 * 4096));
  EXPECT_THAT(cost_of(costs, "all_to_all+ring").refusal, HasSubstr("cp = 2"));
}

TEST(MethodCost, WorkThatIsUnevenOverRanksIsEvenOverHeads) {
  const Case c = causal("contiguous", 4, 16384);
  const std::vector<MethodCost> costs = method_costs(c.load());
  EXPECT_NEAR(cost_of(costs, "ring").compute_s / cost_of(costs, "all_to_all").compute_s, 1.75, 0.01);
  EXPECT_EQ(choose_method(c.load()).method, "all_to_all");
}

TEST(MethodCost, AWindowIsReadOnlyWhereItReaches) {
  Mask window;
  window.window = 64;
  const Case c = causal("contiguous", 4, 16384, {8, 8}, window);
  const std::vector<MethodCost> costs = method_costs(c.load());
  EXPECT_LT(cost_of(costs, "ranged").bytes * 50, cost_of(costs, "all_gather").bytes);
}

TEST(MethodCost, EveryMethodIsWeighed) {
  const Case c = causal("round_robin", 4, 8192);
  const std::vector<MethodCost> costs = method_costs(c.load());
  ASSERT_EQ(costs.size(), methods().size());
  for (size_t i = 0; i < costs.size(); ++i) {
    EXPECT_EQ(costs[i].method, methods()[i].name);
    EXPECT_EQ(costs[i].refusal, "");
    EXPECT_GT(costs[i].compute_s, 0);
    EXPECT_GT(costs[i].bytes, 0);
  }
}

// Pairs of ranks under contiguous windows: the last pair has 3 of 4 quarters of the area, shared by its two ranks.
TEST(MethodCost, AGridEvensOutTheWorkOfEachRunOfRanks) {
  const Case c = causal("contiguous", 4, 16384);
  const std::vector<MethodCost> costs = method_costs(c.load());
  EXPECT_NEAR(cost_of(costs, "all_to_all+ring").compute_s / cost_of(costs, "all_to_all").compute_s, 1.5, 0.01);
}

TEST(MethodCost, TheChoiceSaysWhyAndNeverTakesWhatIsRefused) {
  for (const int cp : {2, 3, 4, 5, 8}) {
    const Case c = causal("round_robin", cp, int64_t{2520} * cp, {7, 7});
    const MethodChoice choice = choose_method(c.load());
    EXPECT_TRUE(choice.method == "ring" || choice.method == "all_gather" || choice.method == "ranged") << choice.method;
    EXPECT_THAT(choice.reason, HasSubstr("estimated"));
  }
  EXPECT_EQ(choose_method(causal("none", 1, 100).load()).method, "ring");
}

}  // namespace
}  // namespace ringwright::layout

// Every method over every layout and mask against attention over the whole sequence, written out.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/local_attention.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/attention/attention_cases.h"
#include "tests/daemon/worker/attention/thread_test.h"
#include "tests/daemon/worker/support/rank_test.h"
#include "tests/deep_tier.h"

namespace ringwright::worker {
namespace {

using namespace ringwright::test;

constexpr double kFloatLimit = 1e-5;
constexpr double kBfloatFactor = 1.5;  // of what one rank's bfloat16 is away from float32

std::string trace(const NamedMask& mask, const NamedLayout& layout, int64_t tokens, int64_t kv_heads, int cp) {
  return mask.name + ", " + layout.name + ", " + std::to_string(tokens) + " tokens, " + std::to_string(kv_heads) + " kv heads, cp " +
         std::to_string(cp);
}

// `type`: of the calls; float64 finds mistakes of arithmetic that float32 would hide.
void expect_methods_equal(const NamedLayout& layout, const Shape& shape, const Tensors& full, const Gradients& want, const ProcessGroup& group,
                          at::ScalarType type) {
  const at::Tensor map = local_map(*layout.layout, layout.padded_length, group.rank);
  for (const layout::MethodEntry& method : methods_that_take(*layout.layout, layout.mask, shape)) {
    SCOPED_TRACE(std::string(method.name));
    const Gradients got = run(cut(full, map, type), make_attention(method.name, layout.layout, group), layout.mask);
    EXPECT_EQ(got.out.scalar_type(), type);
    EXPECT_LE(largest_difference(got, want, map), type == at::kDouble ? 1e-11 : kFloatLimit);
  }
}

void expect_equals_reference(const NamedLayout& layout, const Shape& shape, const ProcessGroup& group, at::ScalarType type) {
  const Tensors full = make_tensors(shape, layout.padded_length);
  expect_methods_equal(layout, shape, full, reference(full, allowed_matrix(layout.mask, layout.padded_length)), group, type);
}

const std::vector<int64_t> kKvHeads = {12, 6, 3};  // ratios 1, 2 and 4

void expect_all_masks(const ProcessGroup& group) {
  const std::vector<int64_t> lengths = by_tier<std::vector<int64_t>>({1, 61}, {1, 2, 3, 7, 11, 61, 150, 333});
  size_t turn = 0;
  for (const int64_t tokens : lengths) {
    for (const NamedMask& mask : all_masks(tokens)) {
      for (const NamedLayout& layout : all_layouts(group.size, tokens, mask.mask)) {
        for (const int64_t kv_heads : tokens == 61 ? kKvHeads : all_or_one(kKvHeads, turn)) {
          SCOPED_TRACE(trace(mask, layout, tokens, kv_heads, group.size));
          expect_equals_reference(layout, {.kv_heads = kv_heads}, group, turn % 4 == 3 ? at::kDouble : at::kFloat);
          ++turn;
        }
      }
    }
  }
}

RANK_TEST(AttentionMethods, EqualFullAttentionOnTwoRanks, 2) { expect_all_masks(ranks.group("cp")); }
THREAD_TEST(AttentionMethods, EqualFullAttentionOnThreeRanks, 3) { expect_all_masks(ranks.group("cp")); }
THREAD_TEST(AttentionMethods, EqualFullAttentionOnFourRanks, 4) { expect_all_masks(ranks.group("cp")); }
TEST(AttentionMethods, EqualFullAttentionOnOneRank) { expect_all_masks(ProcessGroup{}); }

// Three rows, head sizes that no vector register likes, and every ratio of heads.
THREAD_TEST(AttentionMethods, TakeRowsOddHeadSizesAndAllRatios, 3) {
  const int64_t tokens = 30;
  for (const int64_t kv_heads : {12, 6, 3, 1}) {
    for (const NamedLayout& layout : all_layouts(3, tokens, {})) {
      SCOPED_TRACE(layout.name + " " + std::to_string(kv_heads));
      expect_equals_reference(layout, {.rows = 3, .kv_heads = kv_heads, .head_size = 5}, ranks.group("cp"), at::kFloat);
    }
  }
}

// One layout a mask, since the reference of so many tokens takes most of the time.
void expect_long_sequences(int cp, const Shape& shape) {
  const std::pair<std::string, std::string> pairs[] = {{"causal", "round_robin"}, {"documents", "thd"}, {"tree", "balanced"}};
  constexpr int64_t kTokens = 1500;
  for (const NamedMask& mask : all_masks(kTokens)) {
    for (const NamedLayout& layout : all_layouts(cp, kTokens, mask.mask)) {
      if (std::find(std::begin(pairs), std::end(pairs), std::pair(mask.name, layout.name)) == std::end(pairs)) continue;
      const Tensors full = make_tensors(shape, layout.padded_length);
      const Gradients want = reference(full, allowed_matrix(layout.mask, layout.padded_length));
      run_on_threads(cp, [&](const ProcessGroups& ranks) {
        SCOPED_TRACE(trace(mask, layout, kTokens, shape.kv_heads, cp));
        expect_methods_equal(layout, shape, full, want, ranks.group("cp"), at::kFloat);
      });
    }
  }
}
TEST(AttentionMethods, LongSequencesOnTwoRanks) { expect_long_sequences(2, {.heads = 2, .kv_heads = 2}); }
TEST(AttentionMethods, LongSequencesOnFourRanks) { expect_long_sequences(4, {.heads = 4, .kv_heads = 2}); }

// Blocks of a window that is wider than one bias, and gradients that go in several lanes of heads.
THREAD_TEST(AttentionMethods, LongSequencesWithWideWindows, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  const layout::Mask window{.kind = layout::Mask::Kind::causal, .document_offsets = {}, .window = 600, .prefix_tree = {}};
  for (const NamedLayout& layout : all_layouts(2, by_tier<int64_t>(1100, 3000), window)) {
    SCOPED_TRACE(layout.name);
    expect_equals_reference(layout, {.heads = 2, .kv_heads = 1, .head_size = 8}, cp, at::kFloat);
  }
  const Shape wide{.heads = 12, .kv_heads = 12, .head_size = 256};
  expect_equals_reference(all_layouts(2, 512, {}).front(), wide, cp, at::kFloat);
}

void expect_bfloat_as_near_as_one_rank(const NamedLayout& layout, int64_t kv_heads, const ProcessGroup& group) {
  const Shape shape{.kv_heads = kv_heads, .head_size = 32};
  // The same rounded inputs on both sides: what differs is the arithmetic.
  const at::Tensor all = at::arange(layout.padded_length), map = local_map(*layout.layout, layout.padded_length, group.rank);
  const Tensors rounded = cut(cut(make_tensors(shape, layout.padded_length), all, at::kBFloat16), all, at::kDouble);
  const Gradients want = reference(rounded, allowed_matrix(layout.mask, layout.padded_length));
  const Gradients one_rank = run(cut(rounded, all, at::kBFloat16), local_attention, layout.mask);
  const auto distance = [](const at::Tensor& got, const at::Tensor& exact) { return (got.to(at::kDouble) - exact).norm().item<double>(); };
  for (const layout::MethodEntry& method : methods_that_take(*layout.layout, layout.mask, shape)) {
    SCOPED_TRACE(std::string(method.name));
    const Gradients got = run(cut(rounded, map, at::kBFloat16), make_attention(method.name, layout.layout, group), layout.mask);
    const auto expect_near = [&](const char* name, const at::Tensor& ours, const at::Tensor& one, const at::Tensor& exact) {
      EXPECT_EQ(ours.scalar_type(), at::kBFloat16);
      // A window of one token has gradients of 0: both sides are noise then.
      const double noise = 1e-5 * std::sqrt(static_cast<double>(ours.numel()));
      const at::Tensor wanted = exact.index_select(2, map);
      EXPECT_LE(distance(ours, wanted), kBfloatFactor * distance(one.index_select(2, map), wanted) + noise) << name;
    };
    expect_near("out", got.out, one_rank.out, want.out);
    expect_near("grad q", got.q, one_rank.q, want.q);
    expect_near("grad k", got.k, one_rank.k, want.k);
    expect_near("grad v", got.v, one_rank.v, want.v);
  }
}

// Ratios of heads of 1, 2 and 4; the usual tier takes one of them a number of ranks.
void expect_bfloat_at_all_masks(const ProcessGroup& group, int64_t usual) {
  const int64_t tokens = by_tier<int64_t>(48, 200);
  for (const NamedMask& mask : all_masks(tokens)) {
    for (const NamedLayout& layout : all_layouts(group.size, tokens, mask.mask)) {
      for (const int64_t kv_heads : by_tier<std::vector<int64_t>>({usual}, kKvHeads)) {
        SCOPED_TRACE(trace(mask, layout, tokens, kv_heads, group.size));
        expect_bfloat_as_near_as_one_rank(layout, kv_heads, group);
      }
    }
  }
}
THREAD_TEST(AttentionMethods, Bfloat16OnTwoRanksIsAsNearToFloat32AsOnOne, 2) { expect_bfloat_at_all_masks(ranks.group("cp"), 3); }
THREAD_TEST(AttentionMethods, Bfloat16OnThreeRanksIsAsNearToFloat32AsOnOne, 3) { expect_bfloat_at_all_masks(ranks.group("cp"), 6); }
THREAD_TEST(AttentionMethods, Bfloat16OnFourRanksIsAsNearToFloat32AsOnOne, 4) { expect_bfloat_at_all_masks(ranks.group("cp"), 12); }
THREAD_TEST(AttentionMethods, Bfloat16OnSixRanksIsAsNearToFloat32AsOnOne, 6) { expect_bfloat_at_all_masks(ranks.group("cp"), 6); }

THREAD_TEST(AttentionMethods, RepeatBitForBit, 4) {
  const ProcessGroup& cp = ranks.group("cp");
  for (const NamedLayout& layout : all_layouts(4, 200, {})) {
    const Shape shape{.kv_heads = 4, .head_size = 32};
    const Tensors full = make_tensors(shape, layout.padded_length);
    const Tensors local = cut(full, local_map(*layout.layout, layout.padded_length, cp.rank), at::kFloat);
    for (const layout::MethodEntry& method : methods_that_take(*layout.layout, {}, shape)) {
      SCOPED_TRACE(layout.name + ", " + std::string(method.name));
      const AttentionFunction attend = make_attention(method.name, layout.layout, cp);
      const Gradients first = run(local, attend, {});
      for (int repeat = 0; repeat < 3; ++repeat) EXPECT_TRUE(equal_bits(first, run(local, attend, {})));
    }
  }
}

THREAD_TEST(AttentionMethods, TakeAnEmptySequence, 2) {
  for (const layout::MethodEntry& method : methods_that_take(*layout::make_layout("round_robin", 2), {}, {.kv_heads = 6})) {
    const Tensors nothing = cut(make_tensors({.kv_heads = 6}, 0), at::empty({0}, at::kLong), at::kFloat);
    const Gradients got = run(nothing, make_attention(method.name, layout::make_layout("round_robin", 2), ranks.group("cp")), {});
    EXPECT_EQ(got.out.sizes(), at::IntArrayRef({1, 12, 0, 8})) << method.name;
    EXPECT_EQ(got.k.sizes(), at::IntArrayRef({1, 6, 0, 8})) << method.name;
  }
}

// A graph may outlive the function that made it, two layers may be in one graph, and it may be taken back twice.
THREAD_TEST(AttentionMethods, GraphsOutliveTheFunctionAndGoBackTwice, 4) {
  for (const layout::MethodEntry& method : methods_that_take(*layout::make_layout("round_robin", 4), {}, {})) {
    SCOPED_TRACE(std::string(method.name));
    const at::Tensor q = cut(make_tensors({}, 16), at::arange(4), at::kFloat).q.requires_grad_();
    at::Tensor out = q;
    {
      const AttentionFunction attend = make_attention(method.name, layout::make_layout("round_robin", 4), ranks.group("cp"));
      out = attend(q, q, q, {}, 0.5);
      out = attend(out, out, out, {}, 0.5);
    }
    out.sum().backward({}, true);
    const at::Tensor once = q.grad().clone();
    EXPECT_GT(once.abs().max().item<double>(), 0);
    out.sum().backward();
    EXPECT_TRUE(at::equal(q.grad(), once + once));
  }
}

// Context parallelism belongs to a call: a bidirectional layer that is not sharded, between two that are, gives what it gives alone.
THREAD_TEST(AttentionMethods, AnUnshardedLayerBetweenShardedOnesIsUntouched, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  const layout::Mask full{.kind = layout::Mask::Kind::full, .document_offsets = {}, .window = 0, .prefix_tree = {}};
  const Tensors tower = cut(make_tensors({.heads = 4, .kv_heads = 2}, 19), at::arange(19), at::kFloat);
  const Gradients alone = run(tower, local_attention, full);
  for (const layout::MethodEntry& method : methods_that_take(*layout::make_layout("round_robin", 2), {}, {})) {
    const AttentionFunction sharded = make_attention(method.name, layout::make_layout("round_robin", 2), cp);
    const Tensors text = cut(make_tensors({}, 16), local_map(*layout::make_layout("round_robin", 2), 16, cp.rank), at::kFloat);
    const Gradients before = run(text, sharded, {});
    const Gradients between = run(tower, local_attention, full);
    const Gradients after = run(text, sharded, {});
    EXPECT_TRUE(equal_bits(alone, between)) << method.name;
    EXPECT_TRUE(equal_bits(before, after)) << method.name;
    EXPECT_EQ(sharded.cp_size(), 2);
  }
  EXPECT_EQ(AttentionFunction(local_attention).cp_size(), 1);
}

}  // namespace
}  // namespace ringwright::worker

// Ring attention over real processes against attention over the whole sequence.
#include "daemon/worker/context_parallel/ring_attention.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "daemon/worker/parallel/collectives.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/support/rank_test.h"

namespace ringwright::worker {
namespace {

struct Case {
  const char* layout;
  int64_t rows, heads, kv_heads, length, head_size;
  at::ScalarType type;
  AttentionMask::Kind mask;
};

struct Attention {
  at::Tensor out, grad_q, grad_k, grad_v;
};

std::string to_text(const Case& c) {
  std::ostringstream text;
  text << c.layout << " B" << c.rows << " H" << c.heads << " K" << c.kv_heads << " S" << c.length << " D" << c.head_size << " " << c.type
       << (c.mask == AttentionMask::Kind::causal ? " causal" : " full");
  return text.str();
}

// Softmax attention in float64, written out: nothing in common with the operator under test.
at::Tensor reference_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, AttentionMask::Kind mask, double scale) {
  const int64_t group = q.size(1) / k.size(1);
  at::Tensor scores = at::matmul(q, k.repeat_interleave(group, 1).transpose(-1, -2)) * scale;
  if (mask == AttentionMask::Kind::causal) {
    scores = scores.masked_fill(at::ones({q.size(2), q.size(2)}, at::kBool).triu(1), -std::numeric_limits<double>::infinity());
  }
  return at::matmul(scores.softmax(-1), v.repeat_interleave(group, 1));
}

struct Inputs {
  at::Tensor q, k, v, grad_out;
};

Inputs make_inputs(const Case& c) {
  at::manual_seed(7);
  const auto make = [&](int64_t heads) { return at::randn({c.rows, heads, c.length, c.head_size}, at::kDouble); };
  Inputs inputs{make(c.heads), make(c.kv_heads), make(c.kv_heads), make(c.heads)};
  return inputs;
}

Attention run(const Inputs& inputs, const std::function<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&)>& attend) {
  const at::Tensor q = inputs.q.detach().requires_grad_(), k = inputs.k.detach().requires_grad_(), v = inputs.v.detach().requires_grad_();
  const at::Tensor out = attend(q, k, v);
  out.backward(inputs.grad_out);
  return {out.detach(), q.grad(), k.grad(), v.grad()};
}

at::Tensor local_map(const layout::Layout& layout, int64_t length, int rank) {
  return at::tensor(layout.local_token_global_indices(length, rank), at::kLong);
}

// Largest difference of this rank's tokens, relative to the largest value of the whole sequence.
double relative_difference(const at::Tensor& got, const at::Tensor& want_full, const at::Tensor& map) {
  return ((got.to(at::kDouble) - want_full.index_select(2, map)).abs().max() / want_full.abs().max()).item<double>();
}

Attention run_ring(const Case& c, const ProcessGroup& group, const std::shared_ptr<const layout::Layout>& layout) {
  const at::Tensor map = local_map(*layout, c.length, group.rank);
  const auto cut = [&](const at::Tensor& x) { return x.index_select(2, map).to(c.type); };
  const Inputs full = make_inputs(c);
  const AttentionFunction attend = make_ring_attention(layout, group);
  return run({cut(full.q), cut(full.k), cut(full.v), cut(full.grad_out)},
             [&](const auto& q, const auto& k, const auto& v) { return attend(q, k, v, {.kind = c.mask, .document_offsets = {}}, 0.3); });
}

void expect_equals_full_attention(const Case& c, const ProcessGroup& group) {
  SCOPED_TRACE(to_text(c));
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout(c.layout, group.size);
  const at::Tensor map = local_map(*layout, c.length, group.rank);
  const Attention ring = run_ring(c, group, layout);
  const Attention full = run(make_inputs(c), [&](const auto& q, const auto& k, const auto& v) { return reference_attention(q, k, v, c.mask, 0.3); });
  const double out_limit = c.type == at::kDouble ? 1e-10 : c.type == at::kFloat ? 1e-6 : 2e-2;
  const double grad_limit = c.type == at::kDouble ? 1e-10 : c.type == at::kFloat ? 1e-5 : 2e-2;
  EXPECT_EQ(ring.out.scalar_type(), c.type);
  EXPECT_LT(relative_difference(ring.out, full.out, map), out_limit);
  EXPECT_LT(relative_difference(ring.grad_q, full.grad_q, map), grad_limit);
  EXPECT_LT(relative_difference(ring.grad_k, full.grad_k, map), grad_limit);
  EXPECT_LT(relative_difference(ring.grad_v, full.grad_v, map), grad_limit);
}

constexpr auto kCausal = AttentionMask::Kind::causal;
constexpr auto kFull = AttentionMask::Kind::full;

void expect_all_cases(const ProcessGroup& group) {
  const int64_t unit = 2 * group.size;
  for (const char* layout : {"round_robin", "contiguous"}) {
    for (const auto mask : {kCausal, kFull}) {
      expect_equals_full_attention({layout, 1, 2, 2, unit * 16, 8, at::kFloat, mask}, group);
      expect_equals_full_attention({layout, 2, 6, 3, unit * 5, 16, at::kFloat, mask}, group);
      expect_equals_full_attention({layout, 3, 3, 1, unit * 37, 5, at::kDouble, mask}, group);
    }
    expect_equals_full_attention({layout, 1, 7, 7, unit, 8, at::kDouble, kCausal}, group);
    expect_equals_full_attention({layout, 1, 4, 2, unit * 160, 32, at::kFloat, kCausal}, group);
    expect_equals_full_attention({layout, 2, 4, 2, unit * 24, 32, at::kBFloat16, kCausal}, group);
  }
}

RANK_TEST(RingAttention, EqualsFullAttentionOnTwoRanks, 2) { expect_all_cases(ranks.group("cp")); }
RANK_TEST(RingAttention, EqualsFullAttentionOnThreeRanks, 3) { expect_all_cases(ranks.group("cp")); }
RANK_TEST(RingAttention, EqualsFullAttentionOnFourRanks, 4) { expect_all_cases(ranks.group("cp")); }

TEST(RingAttention, IsPlainAttentionOnOneRank) {
  for (const auto mask : {kCausal, kFull}) {
    expect_equals_full_attention({"none", 2, 6, 3, 37, 16, at::kFloat, mask}, ProcessGroup{});
    expect_equals_full_attention({"round_robin", 2, 6, 3, 38, 16, at::kDouble, mask}, ProcessGroup{});
  }
}

RANK_TEST(RingAttention, RepeatsBitForBit, 4) {
  const Case c{"round_robin", 1, 4, 2, 8 * 40, 32, at::kFloat, kCausal};
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout(c.layout, ranks.group("cp").size);
  const Attention first = run_ring(c, ranks.group("cp"), layout);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Attention again = run_ring(c, ranks.group("cp"), layout);
    EXPECT_TRUE(at::equal(first.out, again.out));
    EXPECT_TRUE(at::equal(first.grad_q, again.grad_q));
    EXPECT_TRUE(at::equal(first.grad_k, again.grad_k));
    EXPECT_TRUE(at::equal(first.grad_v, again.grad_v));
  }
}

// The operator underneath ends the process on an empty block.
RANK_TEST(RingAttention, TakesAnEmptySequence, 2) {
  const Attention ring = run_ring({"round_robin", 1, 4, 2, 0, 32, at::kFloat, kCausal}, ranks.group("cp"), layout::make_layout("round_robin", 2));
  EXPECT_EQ(ring.out.sizes(), at::IntArrayRef({1, 4, 0, 32}));
  EXPECT_EQ(ring.grad_k.sizes(), at::IntArrayRef({1, 2, 0, 32}));
}

// A graph may outlive the function that made it, and two layers may be in one graph.
RANK_TEST(RingAttention, GraphOutlivesTheFunction, 2) {
  at::Tensor q = at::randn({1, 2, 8, 4}).requires_grad_();
  at::Tensor out = q;
  {
    const AttentionFunction attend = make_ring_attention(layout::make_layout("round_robin", 2), ranks.group("cp"));
    out = attend(q, q, q, {}, 0.5);
    out = attend(out, out, out, {}, 0.5);
  }
  out.sum().backward();
  EXPECT_TRUE(q.grad().isfinite().all().item<bool>());
  EXPECT_GT(q.grad().abs().max().item<double>(), 0);
}

std::string error_code(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.parts().code;
  }
  return "none";
}

TEST(RingAttention, RefusesPackedDocuments) {
  const AttentionFunction attend = make_ring_attention(layout::make_layout("none", 1), ProcessGroup{});
  const at::Tensor q = at::randn({1, 2, 8, 4});
  EXPECT_EQ(error_code([&] { attend(q, q, q, {.kind = kCausal, .document_offsets = {0, 4, 8}}, 0.5); }), "RW-CP-001");
}

TEST(RingAttention, RefusesALayoutOfAnotherSize) {
  EXPECT_EQ(error_code([] { make_ring_attention(layout::make_layout("round_robin", 2), ProcessGroup{}); }), "RW-CP-003");
}

}  // namespace
}  // namespace ringwright::worker

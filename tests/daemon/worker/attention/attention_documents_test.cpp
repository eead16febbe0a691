// What may and what may not reach across an edge: packed documents, windows, padding.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/local_attention.h"
#include "tests/daemon/worker/attention/attention_cases.h"
#include "tests/daemon/worker/attention/thread_test.h"

namespace ringwright::worker {
namespace {

using namespace ringwright::test;

// Real lengths 7, 16, 1, 25 of documents that are padded to 4 tokens and more.
const std::vector<int64_t> kOffsets = {0, 8, 24, 28, 56};
const std::vector<int64_t> kRealLengths = {7, 16, 1, 25};

NamedLayout packed(const std::vector<int64_t>& offsets, int cp) {
  layout::Options options;
  options.document_offsets = offsets;
  const layout::Mask mask{.kind = layout::Mask::Kind::causal, .document_offsets = offsets, .window = 0, .prefix_tree = {}};
  return {"thd", layout::make_layout("thd", cp, options), offsets.back(), mask};
}

Tensors part(const Tensors& full, int64_t start, int64_t end) {
  const auto slice = [&](const at::Tensor& x) { return x.slice(2, start, end).contiguous(); };
  return {slice(full.q), slice(full.k), slice(full.v), slice(full.grad_out)};
}

Gradients run_on(const NamedLayout& c, const Tensors& full, std::string_view method, const ProcessGroup& group) {
  const Tensors local = cut(full, local_map(*c.layout, c.padded_length, group.rank), at::kFloat);
  return run(local, make_attention(method, c.layout, group), c.mask);
}

// This rank's slots of what is whole on every rank.
Gradients cut(const Gradients& full, const at::Tensor& map) {
  const auto pick = [&](const at::Tensor& x) { return x.index_select(2, map); };
  return {pick(full.out), pick(full.q), pick(full.k), pick(full.v)};
}

// T17, the attention's half: a document inside a pack gives the values that it gives alone on one rank.
THREAD_TEST(AttentionDocuments, T17InAPackTheyGiveWhatTheyGiveAlone, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  const NamedLayout pack = packed(kOffsets, cp.size);
  const Tensors full = make_tensors({.kv_heads = 6}, pack.padded_length);
  const at::Tensor map = local_map(*pack.layout, pack.padded_length, cp.rank);
  for (const layout::MethodEntry& method : methods_that_take(*pack.layout, pack.mask, {.kv_heads = 6})) {
    const Gradients together = run_on(pack, full, method.name, cp);
    for (size_t d = 0; d + 1 < kOffsets.size(); ++d) {
      SCOPED_TRACE(std::string(method.name) + ", document " + std::to_string(d));
      const Tensors own = part(full, kOffsets[d], kOffsets[d + 1]);
      const Gradients alone = run(cut(own, at::arange(own.q.size(2)), at::kFloat), local_attention, {});
      const at::Tensor slots = at::nonzero((map >= kOffsets[d]).logical_and(map < kOffsets[d + 1])).flatten();
      EXPECT_LE(largest_difference(cut(together, slots), alone, map.index_select(0, slots) - kOffsets[d]), 1e-5);
    }
  }
}

// T17: changing one document leaves every other one the same, bit for bit.
THREAD_TEST(AttentionDocuments, T17ChangingOneLeavesTheOthersBitForBit, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  const NamedLayout pack = packed(kOffsets, cp.size);
  const Tensors full = make_tensors({.kv_heads = 3}, pack.padded_length);
  Tensors changed = full;
  for (at::Tensor* x : {&changed.q, &changed.k, &changed.v, &changed.grad_out}) {
    *x = x->clone();
    x->slice(2, kOffsets[1], kOffsets[2]).mul_(-3);
  }
  const at::Tensor map = local_map(*pack.layout, pack.padded_length, cp.rank);
  const at::Tensor others = at::nonzero((map < kOffsets[1]).logical_or(map >= kOffsets[2])).flatten();
  for (const layout::MethodEntry& method : methods_that_take(*pack.layout, pack.mask, {.kv_heads = 3})) {
    const Gradients before = run_on(pack, full, method.name, cp), after = run_on(pack, changed, method.name, cp);
    EXPECT_TRUE(equal_bits(cut(before, others), cut(after, others))) << method.name;
    EXPECT_FALSE(equal_bits(before, after)) << method.name;
  }
}

// T04: one windowed layer; token 0 reaches positions below the window and none from there on.
THREAD_TEST(AttentionDocuments, T04TheWindowIsReallyApplied, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  const int64_t length = 512, window = 128;
  const layout::Mask mask{.kind = layout::Mask::Kind::causal, .document_offsets = {}, .window = window, .prefix_tree = {}};
  const NamedLayout c{"round_robin", layout::make_layout("round_robin", cp.size), length, mask};
  const Tensors full = make_tensors({.heads = 4, .kv_heads = 2}, length);
  Tensors changed = full;
  changed.k = full.k.clone();
  changed.v = full.v.clone();
  changed.k.select(2, 0).mul_(50);
  changed.v.select(2, 0).mul_(50);
  const at::Tensor map = local_map(*c.layout, length, cp.rank), behind = at::nonzero(map >= window).flatten(),
                   inside = at::nonzero(map < window).flatten();
  for (const layout::MethodEntry& method : methods_that_take(*c.layout, mask, {.heads = 4, .kv_heads = 2})) {
    const at::Tensor before = run_on(c, full, method.name, cp).out, after = run_on(c, changed, method.name, cp).out;
    EXPECT_TRUE(at::equal(before.index_select(2, behind), after.index_select(2, behind))) << method.name;
    if (inside.numel() == 0) continue;
    EXPECT_FALSE(at::equal(before.index_select(2, inside), after.index_select(2, inside))) << method.name;
  }
}

// T03 (b): 2,999 tokens on four ranks are padded to 3,000; nothing that stands behind a causal mask changes anything.
THREAD_TEST(AttentionDocuments, T03AnOddLengthGivesWhatItGivesOnOneRank, 4) {
  const ProcessGroup& cp = ranks.group("cp");
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout("round_robin", cp.size);
  const int64_t tokens = 2999, padded = layout->padded_length(tokens);
  ASSERT_EQ(padded, 3000);
  const Tensors full = make_tensors({.heads = 2, .kv_heads = 1, .head_size = 16}, padded);
  const Tensors real = part(full, 0, tokens);
  const Gradients one_rank = run(test::cut(real, at::arange(tokens), at::kFloat), local_attention, {});
  const at::Tensor map = local_map(*layout, padded, cp.rank), slots = at::nonzero(map < tokens).flatten();
  Tensors without_padding = full;
  without_padding.grad_out = full.grad_out.clone();
  without_padding.grad_out.select(2, tokens).zero_();  // no loss comes from padding
  for (const layout::MethodEntry& method : methods_that_take(*layout, {}, {.heads = 2, .kv_heads = 1})) {
    const Gradients got = run_on({"round_robin", layout, padded, {}}, without_padding, method.name, cp);
    EXPECT_LE(largest_difference(cut(got, slots), one_rank, map.index_select(0, slots)), 1e-5) << method.name;
  }
}

}  // namespace
}  // namespace ringwright::worker

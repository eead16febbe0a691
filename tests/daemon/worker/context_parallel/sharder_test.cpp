// The sharder's batch rules and token verbs with values worked by hand (context-parallel contract, sections 4, 5 and 9), and the known troubles
// T02, T03, T05 and T06.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/context_parallel/flavours.h"
#include "daemon/worker/parallel/collectives.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/context_parallel/shard_support.h"
#include "tests/daemon/worker/support/rank_test.h"

namespace ringwright::worker {
namespace {

Batch six_tokens() {
  return {{"input_ids", row({1, 2, 3, 4, 5, 6})}, {"labels", row({11, 12, 13, 14, 15, 16})}, {"attention_mask", row({1, 1, 1, 1, 1, 0})}};
}

TEST(Sharder, RoundRobinPadsWithZeroAndRemovesTheAttentionMask) {
  Sharder sharder = make_sharder("round_robin", member(0, 2));
  const Batch local = sharder.shard(six_tokens());
  EXPECT_EQ(longs(local.at("input_ids")), (Longs{1, 2, 0, 0}));
  EXPECT_EQ(longs(local.at("labels")), (Longs{11, 12, -100, -100}));
  EXPECT_EQ(longs(local.at("position_ids")), (Longs{0, 1, 0, 0}));
  EXPECT_EQ(local.count("attention_mask"), 0u);
  EXPECT_EQ(local.count("padding_mask"), 0u);
  EXPECT_EQ(sharder.facts().original_length, 6);
  EXPECT_EQ(sharder.facts().padded_length, 8);
  EXPECT_EQ(longs(sharder.local_token_global_indices(8)), (Longs{0, 1, 6, 7}));
}

TEST(Sharder, ContiguousContinuesPositionsAndConvertsTheAttentionMask) {
  SharderOptions options;
  options.pad_multiple = 4;
  options.batch.padding_token_id = 9;
  Sharder sharder = make_sharder("contiguous", member(1, 2), options);
  const Batch local = sharder.shard(six_tokens());
  EXPECT_EQ(longs(local.at("input_ids")), (Longs{5, 6, 9, 9}));
  EXPECT_EQ(longs(local.at("position_ids")), (Longs{4, 5, 6, 7}));
  EXPECT_EQ(longs(local.at("padding_mask")), (Longs{0, 1, 1, 1}));
  EXPECT_EQ(local.count("attention_mask"), 0u);
}

TEST(Sharder, NeverChangesTheBatch) {
  const Batch batch = six_tokens();
  for (const char* flavour : {"round_robin", "contiguous"}) {
    make_sharder(flavour, member(0, 2)).shard(batch);
    EXPECT_EQ(batch.size(), 3u);
    EXPECT_EQ(longs(batch.at("input_ids")), (Longs{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(longs(batch.at("attention_mask")), (Longs{1, 1, 1, 1, 1, 0}));
  }
}

TEST(Sharder, IdentityLeavesTheBatchAlone) {
  Sharder sharder = make_sharder("round_robin", ProcessGroup{});
  const Batch batch = six_tokens();
  const Batch local = sharder.shard(batch);
  EXPECT_TRUE(local.at("attention_mask").is_same(batch.at("attention_mask")));
  EXPECT_EQ(local.size(), batch.size());
  EXPECT_EQ(longs(sharder.gather_token_tensor(local.at("labels"), 1, true)), (Longs{11, 12, 13, 14, 15, 16}));
}

TEST(Sharder, CutsRegisteredKeysAndLeavesOthersWhole) {
  SharderOptions options;
  options.batch.extra_sequence_keys = {{"tags", 1}, {"wide", 2}};
  Batch batch = six_tokens();
  batch["tags"] = row({1, 2, 3, 4, 5, 6});
  batch["wide"] = at::arange(12).reshape({1, 2, 6});
  batch["other"] = row({1, 2, 3});
  const Batch local = make_sharder("round_robin", member(1, 2), options).shard(batch);
  EXPECT_EQ(longs(local.at("tags")), (Longs{3, 4, 5, 6}));
  EXPECT_EQ(longs(local.at("wide")), (Longs{2, 3, 4, 5, 8, 9, 10, 11}));
  EXPECT_EQ(longs(local.at("other")), (Longs{1, 2, 3}));
  batch.erase("tags");
  EXPECT_EQ(error_code([&] { make_sharder("round_robin", member(1, 2), options).shard(batch); }), "RW-SHARD-002");
}

TEST(Sharder, GradientReachesOwnedTokensOnly) {
  const at::Tensor embeddings = at::ones({1, 6, 1}).requires_grad_();
  const Batch local = make_sharder("round_robin", member(0, 2)).shard({{"inputs_embeds", embeddings}, {"labels", row({1, 2, 3, 4, 5, 6})}});
  (local.at("inputs_embeds") * at::tensor({1.0f, 2.0f, 3.0f, 4.0f}).reshape({1, 4, 1})).sum().backward();
  EXPECT_EQ(longs(embeddings.grad()), (Longs{1, 2, 0, 0, 0, 0}));
}

TEST(Sharder, RefusesBatchesThatItDoesNotUnderstand) {
  Sharder sharder = make_sharder("round_robin", member(0, 2));
  Batch both = six_tokens();
  both["inputs_embeds"] = at::zeros({1, 6, 2});
  EXPECT_EQ(error_code([&] { sharder.shard(both); }), "RW-SHARD-001");
  EXPECT_EQ(error_code([&] { sharder.shard({{"labels", row({1})}}); }), "RW-SHARD-001");
  EXPECT_EQ(error_code([&] { sharder.shard({{"input_ids", row({1, 2})}}); }), "RW-SHARD-002");
  EXPECT_EQ(error_code([&] { sharder.shard({{"input_ids", at::zeros({4}, at::kLong)}, {"labels", row({1})}}); }), "RW-SHARD-001");
  EXPECT_EQ(error_code([&] { sharder.shard({{"input_ids", row({1, 2})}, {"labels", row({1, 2, 3})}}); }), "RW-SHARD-001");
  EXPECT_EQ(error_code([] { make_sharder("none", member(0, 2)); }), "RW-SHARD-004");
  EXPECT_EQ(error_code([] { make_sharder("zigzag", member(0, 2)); }), "RW-LAYOUT-003");
}

TEST(Sharder, NeverGuessesAFill) {
  Sharder sharder = make_sharder("round_robin", member(1, 2));
  sharder.shard(six_tokens());
  const at::Tensor mask = row({0, 0, 1, 1, 1, 1});
  EXPECT_EQ(error_code([&] { sharder.shard_token_tensor(mask); }), "RW-SHARD-001");
  EXPECT_EQ(longs(sharder.shard_token_tensor(mask, 1, 0)), (Longs{1, 1, 1, 1}));
  EXPECT_EQ(error_code([&] { sharder.shard_token_tensor(row({1, 2, 3, 4}), 1, 0); }), "RW-SHARD-001");
  EXPECT_EQ(longs(sharder.shard_token_tensor(row({1, 2, 3, 4, 5, 6, 7, 8}))), (Longs{3, 4, 5, 6}));
}

TEST(Sharder, WithoutABatchOnlyTheLayoutsDivisorProtects) {
  const Sharder sharder = make_sharder("round_robin", member(1, 2));
  EXPECT_EQ(longs(sharder.shard_token_tensor(row({1, 2, 3, 4}))), (Longs{2, 3}));
  EXPECT_EQ(error_code([&] { sharder.shard_token_tensor(row({1, 2, 3, 4, 5, 6})); }), "RW-LAYOUT-001");
  EXPECT_EQ(error_code([] { make_sharder("round_robin", ProcessGroup{}).gather_token_tensor(row({1}), 1, true); }), "RW-SHARD-003");
}

// T02: the targets are shifted over the whole sequence, then cut.
RANK_TEST(Sharder, T02ShiftsGloballyThenCuts, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  Sharder sharder = make_sharder("round_robin", cp);
  const Batch local = sharder.shard({{"input_ids", at::arange(8).unsqueeze(0)}, {"labels", row({1, 2, 3, 4, 5, 6, 7, -100})}});
  EXPECT_EQ(longs(local.at("position_ids")), cp.rank == 0 ? (Longs{0, 1, 6, 7}) : (Longs{2, 3, 4, 5}));
  EXPECT_EQ(longs(local.at("labels")), cp.rank == 0 ? (Longs{1, 2, 7, -100}) : (Longs{3, 4, 5, 6}));
  const at::Tensor logprobs = local.at("input_ids").to(at::kFloat) * -0.5;
  EXPECT_TRUE(at::equal(sharder.gather_token_tensor(logprobs, 1, true), at::arange(8).unsqueeze(0).to(at::kFloat) * -0.5));
}

// T03 (a): 7 tokens over two ranks are padded to 8; the gather gives 7 back, and padding behind a causal mask changes nothing.
RANK_TEST(Sharder, T03PadsOddLengthsAndTrims, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  Sharder sharder = make_sharder("round_robin", cp);
  const Batch local = sharder.shard({{"input_ids", at::arange(7).unsqueeze(0)}, {"labels", at::arange(7).unsqueeze(0)}});
  EXPECT_EQ(longs(sharder.local_token_global_indices(8)), cp.rank == 0 ? (Longs{0, 1, 6, 7}) : (Longs{2, 3, 4, 5}));
  at::manual_seed(3);
  const at::Tensor q_BLHD = at::randn({1, 7, 2, 4}, at::kDouble), k_BLHD = at::randn({1, 7, 2, 4}, at::kDouble);
  const auto cut = [&](const at::Tensor& x) { return sharder.shard_token_tensor(x, 1, 0.0).transpose(1, 2); };
  const AttentionFunction ring = make_attention("ring", sharder.layout(), cp),
                          plain = make_attention("ring", layout::make_layout("none", 1), ProcessGroup{});
  const at::Tensor out_BHLD = ring(cut(q_BLHD), cut(k_BLHD), cut(k_BLHD), {}, 0.5);
  const at::Tensor out_BLHD = sharder.gather_token_tensor(out_BHLD.transpose(1, 2), 1, true);
  const at::Tensor want_BLHD = plain(q_BLHD.transpose(1, 2), k_BLHD.transpose(1, 2), k_BLHD.transpose(1, 2), {}, 0.5).transpose(1, 2);
  EXPECT_EQ(out_BLHD.size(1), 7);
  EXPECT_LT((out_BLHD - want_BLHD).abs().max().item<double>(), 1e-12);
}

// T05, the small case: dL/dw of sum(mask * w * c) / 3 over tokens that are spread over two ranks.
RANK_TEST(Sharder, T05GradientOfAReplicatedLossIsAveragedOverRanks, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  Sharder sharder = make_sharder("round_robin", cp);
  const at::Tensor ids = at::arange(8).unsqueeze(0);
  sharder.shard({{"input_ids", ids}, {"labels", ids}});
  const at::Tensor c = at::arange(2, 17, 2, at::kDouble).unsqueeze(0), mask = (ids >= 5).to(at::kDouble);

  at::Tensor w = at::ones({}, at::kDouble).requires_grad_();
  const at::Tensor losses = sharder.gather_token_tensor(w * sharder.shard_token_tensor(c), 1, true);
  ((losses * mask).sum() / 3).backward();
  if (cp.rank == 0) {
    EXPECT_DOUBLE_EQ(w.grad().item<double>(), 20.0);
  }
  all_reduce_sum(w.grad(), cp);
  EXPECT_DOUBLE_EQ(w.grad().item<double>() / 2, 14.0);

  at::Tensor partitioned = at::ones({}, at::kDouble).requires_grad_();
  ((partitioned * sharder.shard_token_tensor(c) * sharder.shard_token_tensor(mask)).sum() / 3 * 2).backward();
  all_reduce_sum(partitioned.grad(), cp);
  EXPECT_DOUBLE_EQ(partitioned.grad().item<double>() / 2, 14.0);
}

// T06: numerators and counts are summed before the one division.
RANK_TEST(Sharder, T06DividesByTheGlobalTokenCount, 2) {
  const ProcessGroup& cp = ranks.group("cp");
  Sharder sharder = make_sharder("round_robin", cp);
  const at::Tensor ids = at::arange(8).unsqueeze(0);
  sharder.shard({{"input_ids", ids}, {"labels", ids}});
  const at::Tensor local = sharder.shard_token_tensor(at::arange(2, 17, 2, at::kDouble).unsqueeze(0));
  for (const auto& [first, want] : std::vector<std::pair<int64_t, double>>{{5, 14.0}, {7, 16.0}}) {
    const at::Tensor mask = (ids >= first).to(at::kDouble);
    const at::Tensor gathered = sharder.gather_token_tensor(local, 1, true);
    EXPECT_DOUBLE_EQ(((gathered * mask).sum() / mask.sum()).item<double>(), want);
    const at::Tensor local_mask = sharder.shard_token_tensor(mask);
    const at::Tensor sums = at::stack({(local * local_mask).sum(), local_mask.sum()});
    all_reduce_sum(sums, cp);
    EXPECT_DOUBLE_EQ((sums[0] / sums[1]).item<double>(), want);
  }
}

RANK_TEST(Sharder, GathersEveryElementType, 2) {
  Sharder sharder = make_sharder("contiguous", ranks.group("cp"));
  for (const auto type : {at::kLong, at::kInt, at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kBool}) {
    const at::Tensor full = at::arange(8).unsqueeze(0).to(type);
    EXPECT_TRUE(at::equal(sharder.gather_token_tensor(sharder.shard_token_tensor(full)), full)) << type;
  }
}

// Every rank's own loss over the gathered tokens counts; the sum is in rank order and repeats bit for bit.
RANK_TEST(Sharder, GradientOfAGatherSumsOverRanks, 4) {
  const ProcessGroup& cp = ranks.group("cp");
  Sharder sharder = make_sharder("round_robin", cp);
  at::manual_seed(5);
  const at::Tensor full = at::randn({2, 24, 3}), weights = at::randn({4, 2, 24, 3});
  at::Tensor first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const at::Tensor local = sharder.shard_token_tensor(full).detach().requires_grad_();
    (sharder.gather_token_tensor(local) * weights[cp.rank]).sum().backward();
    const at::Tensor want = sharder.shard_token_tensor(((weights[0] + weights[1]) + weights[2]) + weights[3]);
    EXPECT_TRUE(at::equal(local.grad(), want));
  }
}

}  // namespace
}  // namespace ringwright::worker

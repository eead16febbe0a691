// Every flavour over random batches, packed and not: what was cut comes back, the gradient of the gather is that of the whole sequence, and at one
// rank nothing changes. Known troubles: T01 (targets at document edges), T03 (odd lengths).
#include "daemon/worker/context_parallel/flavours.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/stream.h"
#include "daemon/worker/parallel/collectives.h"
#include "tests/daemon/worker/context_parallel/shard_support.h"
#include "tests/daemon/worker/support/rank_threads.h"
#include "tests/deep_tier.h"

namespace ringwright::worker {
namespace {

struct Case {
  Batch batch;
  int64_t rows = 0;
  int64_t row_length = 0;
};

Case rows_case(int64_t rows, int64_t row_length) {
  const at::Tensor ids = at::arange(1, rows * row_length + 1).reshape({rows, row_length});
  return {{{"input_ids", ids}, {"labels", ids + 1000}}, rows, row_length};
}

// Documents of random lengths in slots of a multiple of `divisor`; the last slot of a row takes its tail.
Case packed_case(std::mt19937& random, int64_t rows, int64_t divisor) {
  const int64_t row_length = divisor * std::uniform_int_distribution<int64_t>(1, 6)(random);
  Case made = rows_case(rows, row_length);
  std::vector<Longs> lengths, slots;
  for (int64_t row = 0; row < rows; ++row) {
    Longs row_lengths, row_slots;
    for (int64_t used = 0; used < row_length;) {
      const int64_t slot = divisor * std::uniform_int_distribution<int64_t>(1, (row_length - used) / divisor)(random);
      row_slots.push_back(slot);
      row_lengths.push_back(std::uniform_int_distribution<int64_t>(1, slot)(random));
      used += slot;
    }
    lengths.push_back(row_lengths);
    slots.push_back(row_slots);
  }
  add_document_lengths(made.batch, lengths, slots);
  made.batch["position_ids"] = at::arange(row_length).expand({rows, row_length});
  return made;
}

SharderOptions small_chunks() {
  SharderOptions options;
  options.chunk = 4;
  options.batch.padding_token_id = 7;
  return options;
}

// A value where the layout dropped the caller's slot (DeepSeek-V4 drops the old padding), else none.
at::Tensor kept_slots(const Sharder& sharder, const at::Tensor& like) {
  const at::Tensor& positions = sharder.facts().input_token_stream_positions;
  return positions.defined() ? positions >= 0 : at::ones(like.sizes(), at::kBool);
}

// gather(shard(x)) = x, and each token of the batch lies where the map says.
void expect_round_trip(const std::string& flavour, const Case& made, const ProcessGroup& cp, const at::Tensor& values) {
  Sharder sharder = make_sharder(flavour, cp, small_chunks());
  const Batch local = sharder.shard(made.batch);
  const int64_t axis = sharder.token_axis();
  const at::Tensor part = sharder.shard_token_tensor(values, 1, -1.0);
  const at::Tensor back = sharder.gather_token_tensor(part, axis, true, -1.0);
  const at::Tensor kept = kept_slots(sharder, values);
  EXPECT_TRUE(at::equal(back, at::where(kept, values, -1.0))) << flavour;
  EXPECT_EQ(part.sizes(), local.at("labels").sizes()) << flavour;
  const at::Tensor labels = sharder.gather_token_tensor(local.at("labels"), axis, true, kIgnoredLabel);
  EXPECT_TRUE(at::equal(labels, at::where(kept, made.batch.at("labels"), static_cast<int64_t>(kIgnoredLabel)))) << flavour;
}

// Against finite differences: a loss of all ranks over the gathered tokens, one of them weighted by its rank.
void expect_gradient(const std::string& flavour, const Case& made, const ProcessGroup& cp, const at::Tensor& values, const at::Tensor& weights_R) {
  Sharder sharder = make_sharder(flavour, cp, small_chunks());
  sharder.shard(made.batch);
  const auto loss_of = [&](const at::Tensor& part) {
    const at::Tensor full = sharder.gather_token_tensor(part, sharder.token_axis(), true, 0.0);
    return (full.sin() * weights_R[cp.rank]).sum();
  };
  const auto total_loss = [&](const at::Tensor& part) {
    const at::NoGradGuard no_grad;
    at::Tensor loss = loss_of(part).reshape({1}).clone();
    all_reduce_sum(loss, cp);
    return loss.item<double>();
  };
  const at::Tensor part = sharder.shard_token_tensor(values, 1, 0.5).detach();
  const at::Tensor differentiated = part.clone().requires_grad_();
  loss_of(differentiated).backward();
  // Every rank moves one of its slots at a time, the others hold still; all of them take part in each gather.
  constexpr double kStep = 1e-5;
  for (int mover = 0; mover < cp.size; ++mover) {
    for (int64_t slot = 0; slot < part.numel(); ++slot) {
      const auto moved = [&](double step) {
        at::Tensor copy = part.clone();
        if (cp.rank == mover) copy.view({-1})[slot] += step;
        return copy;
      };
      const double slope = (total_loss(moved(kStep)) - total_loss(moved(-kStep))) / (2 * kStep);
      if (cp.rank == mover) {
        EXPECT_NEAR(differentiated.grad().view({-1})[slot].item<double>(), slope, 1e-6) << flavour << " slot " << slot;
      }
    }
  }
}

TEST(Flavours, WhatWasCutComesBack) {
  std::mt19937 random(11);
  for (const std::string& flavour : cp_flavours()) {
    for (int repeat = 0; repeat < test::by_tier(3, 30); ++repeat) {
      const int cp = std::uniform_int_distribution<int>(1, 4)(random);
      const int64_t rows = std::uniform_int_distribution<int64_t>(1, 3)(random);
      const Case made = rows_case(rows, std::uniform_int_distribution<int64_t>(1, 40)(random));
      const at::Tensor values = at::randn({rows, made.row_length}, at::kDouble);
      test::run_on_threads(cp, [&](const ProcessGroups& ranks) { expect_round_trip(flavour, made, ranks.group("cp"), values); });
    }
  }
}

TEST(Flavours, WhatWasCutOfPacksComesBack) {
  std::mt19937 random(12);
  for (const std::string& flavour : cp_flavours()) {
    for (int repeat = 0; repeat < test::by_tier(3, 30); ++repeat) {
      const int cp = std::uniform_int_distribution<int>(1, 4)(random);
      const Case made = packed_case(random, std::uniform_int_distribution<int64_t>(1, 3)(random), 2 * cp);
      const at::Tensor values = at::randn({made.rows, made.row_length}, at::kDouble);
      test::run_on_threads(cp, [&](const ProcessGroups& ranks) { expect_round_trip(flavour, made, ranks.group("cp"), values); });
    }
  }
}

TEST(Flavours, GradientOfAGatherMatchesFiniteDifferences) {
  std::mt19937 random(13);
  for (const std::string& flavour : cp_flavours()) {
    for (const bool packed : {false, true}) {
      const Case made = packed ? packed_case(random, 1, 4) : rows_case(2, 5);
      const at::Tensor values = at::randn({made.rows, made.row_length}, at::kDouble);
      const at::Tensor weights_R = at::randn({2, made.rows, made.row_length}, at::kDouble);
      test::run_on_threads(2, [&](const ProcessGroups& ranks) { expect_gradient(flavour, made, ranks.group("cp"), values, weights_R); });
    }
  }
}

// A CP group that is not the ranks 0..cp-1: collectives name ranks inside the group.
TEST(Flavours, WorkOnEverySubgroup) {
  mesh::ParallelismSizes sizes;
  sizes.dp = 2;
  sizes.cp = 2;
  const Case made = rows_case(2, 7);
  const at::Tensor values = at::randn({2, 7}, at::kDouble), weights_R = at::randn({2, 2, 7}, at::kDouble);
  for (const std::string& flavour : cp_flavours()) {
    test::run_on_threads(
        4,
        [&](const ProcessGroups& ranks) {
          const at::Tensor own = values + ranks.group("dp").rank;
          expect_round_trip(flavour, made, ranks.group("cp"), own);
          expect_gradient(flavour, made, ranks.group("cp"), own, weights_R);
        },
        sizes);
  }
}

// Resolution at one rank gives the identity: with it a step computes the same bits as without a sharder.
TEST(Flavours, OneRankIsTheSameWithAndWithoutASharder) {
  const Case made = rows_case(2, 9);
  Sharder sharder = make_sharder("round_robin", ProcessGroup{});
  const Batch local = sharder.shard(made.batch);
  const auto step = [](const at::Tensor& ids, const at::Tensor& labels, const std::function<at::Tensor(const at::Tensor&)>& gather) {
    const at::Tensor weights = at::linspace(-1, 1, 19).requires_grad_();
    const at::Tensor loss = (gather(weights.index_select(0, ids.flatten()).view_as(ids)) * labels).sin().sum();
    loss.backward();
    return std::pair(loss.detach(), weights.grad());
  };
  const auto with = step(local.at("input_ids"), local.at("labels"), [&](const at::Tensor& x) { return sharder.gather_token_tensor(x, 1, true); });
  const auto without = step(made.batch.at("input_ids"), made.batch.at("labels"), [](const at::Tensor& x) { return x; });
  EXPECT_TRUE(at::equal(with.first, without.first));
  EXPECT_TRUE(at::equal(with.second, without.second));
}

// T01, the sharder's part: targets that end at document edges arrive as they were made.
TEST(Flavours, T01TargetsOfPackedDocumentsArriveUnchanged) {
  Batch batch = {{"input_ids", at::tensor({10, 11, 12, 0, 20, 21, 0, 0}, at::kLong).unsqueeze(0)},
                 {"labels", at::tensor({11, 12, -100, -100, 21, -100, -100, -100}, at::kLong).unsqueeze(0)},
                 {"position_ids", at::tensor({0, 1, 2, 3, 0, 1, 2, 3}, at::kLong).unsqueeze(0)}};
  add_document_lengths(batch, {{3, 2}}, {{4, 4}});
  for (const std::string& flavour : cp_flavours()) {
    test::run_on_threads(2, [&](const ProcessGroups& ranks) {
      Sharder sharder = make_sharder(flavour, ranks.group("cp"), small_chunks());
      const Batch local = sharder.shard(batch);
      at::Tensor scored = (local.at("labels") >= 0).sum().reshape({1}).clone();
      all_reduce_sum(scored, ranks.group("cp"));
      EXPECT_EQ(scored.item<int64_t>(), 3) << flavour;
      const at::Tensor targets = sharder.gather_token_tensor(local.at("labels"), sharder.token_axis(), true, kIgnoredLabel);
      EXPECT_TRUE(at::equal(targets, batch.at("labels"))) << flavour << "\n" << targets;
    });
  }
}

// T03 (b): 2999 tokens over four ranks are padded to 3000, chunks of 375.
TEST(Flavours, T03PadsLongOddLengths) {
  const Case made = rows_case(1, 2999);
  ProcessGroup last;
  last.rank = 3;
  last.size = 4;
  Sharder sharder = make_sharder("round_robin", last);
  const Batch local = sharder.shard(made.batch);
  EXPECT_EQ(sharder.facts().padded_length, 3000);
  EXPECT_EQ(local.at("input_ids").size(1), 750);
  EXPECT_EQ(local.at("input_ids")[0][375].item<int64_t>(), 4 * 375 + 1);
}

}  // namespace
}  // namespace ringwright::worker

// Every flavour over random batches, packed and not: what was cut comes back, the gradient of the gather is that of the whole sequence, and at one
// rank nothing changes. Known troubles: T01 (targets at document edges), T03 (odd lengths).
#include "daemon/worker/context_parallel/flavours.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/stream.h"
#include "daemon/worker/parallel/collectives.h"
#include "tests/daemon/worker/context_parallel/shard_support.h"
#include "tests/daemon/worker/support/rank_threads.h"

namespace ringwright::worker {
namespace {

struct Case {
  Batch batch;
  int64_t rows = 0;
  int64_t row_length = 0;
};

// Numbers without a pattern, the same in every thread.
at::Tensor numbers(const std::vector<int64_t>& shape, double seed) {
  return (at::arange(c10::multiply_integers(shape), at::kDouble) * 1.37 + seed).sin().reshape(shape);
}

Case rows_case(int64_t rows, int64_t row_length) {
  const at::Tensor ids = at::arange(1, rows * row_length + 1).reshape({rows, row_length});
  return {{{"input_ids", ids}, {"labels", ids + 1000}}, rows, row_length};
}

// Documents of any lengths in slots of a multiple of `divisor`; the last slot of a row takes its tail.
Case any_packed_case(int64_t rows, int64_t row_slots, int64_t divisor) {
  const int64_t row_length = divisor * row_slots;
  Case made = rows_case(rows, row_length);
  std::vector<Longs> lengths, slots;
  for (int64_t row = 0; row < rows; ++row) {
    Longs row_lengths, row_slot_lengths;
    for (int64_t used = 0; used < row_length;) {
      const int64_t slot = divisor * *rc::gen::inRange<int64_t>(1, (row_length - used) / divisor + 1);
      row_slot_lengths.push_back(slot);
      row_lengths.push_back(*rc::gen::inRange<int64_t>(1, slot + 1));
      used += slot;
    }
    lengths.push_back(row_lengths);
    slots.push_back(row_slot_lengths);
  }
  add_document_lengths(made.batch, lengths, slots);
  made.batch["position_ids"] = at::arange(row_length).expand({rows, row_length});
  return made;
}

Case any_case(int cp, int64_t length_max) {
  const int64_t rows = *rc::gen::inRange<int64_t>(1, 4);
  if (*rc::gen::arbitrary<bool>()) return any_packed_case(rows, *rc::gen::inRange<int64_t>(1, std::max<int64_t>(length_max / (2 * cp), 2)), 2 * cp);
  return rows_case(rows, *rc::gen::inRange<int64_t>(1, length_max));
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

// gather(shard(x)) = x, and each token of the batch lies where the map says. "": it holds.
std::string round_trip_fault(const std::string& flavour, const Case& made, const ProcessGroup& cp, const at::Tensor& values) {
  Sharder sharder = make_sharder(flavour, cp, small_chunks());
  const Batch local = sharder.shard(made.batch);
  const int64_t axis = sharder.token_axis();
  const at::Tensor part = sharder.shard_token_tensor(values, 1, -1.0);
  const at::Tensor back = sharder.gather_token_tensor(part, axis, true, -1.0);
  const at::Tensor kept = kept_slots(sharder, values);
  if (!at::equal(back, at::where(kept, values, -1.0))) return "a tensor does not come back";
  if (part.sizes() != local.at("labels").sizes()) return "a tensor's part is not like the batch's";
  const at::Tensor labels = sharder.gather_token_tensor(local.at("labels"), axis, true, kIgnoredLabel);
  if (!at::equal(labels, at::where(kept, made.batch.at("labels"), static_cast<int64_t>(kIgnoredLabel)))) return "labels do not come back";
  return "";
}

// The map of every rank and its inverse: each position has one owner, and the owner's slot names it again. "": it holds.
std::string inverse_fault(const std::string& flavour, const Case& made, const ProcessGroup& cp) {
  Sharder sharder = make_sharder(flavour, cp, small_chunks());
  sharder.shard(made.batch);
  const int64_t padded_length = *sharder.facts().padded_length;
  const Longs own = longs(sharder.local_token_global_indices(padded_length));
  for (size_t slot = 0; slot < own.size(); ++slot) {
    const layout::Slot owner = sharder.layout()->owner(padded_length, own[slot]);
    if (owner.rank != cp.rank && cp.size > 1) return "a position is another rank's";
    if (owner.index != static_cast<int64_t>(slot)) return "a position stands in another slot";
  }
  return static_cast<int64_t>(own.size()) * cp.size == padded_length ? "" : "the ranks do not partition the sequence";
}

// Against finite differences: a loss of all ranks over the gathered tokens, one of them weighted by its rank. "": it holds.
std::string gradient_fault(const std::string& flavour, const Case& made, const ProcessGroup& cp, const at::Tensor& values,
                           const at::Tensor& weights_R) {
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
  double largest = 0;
  for (int mover = 0; mover < cp.size; ++mover) {
    for (int64_t slot = 0; slot < part.numel(); ++slot) {
      const auto moved = [&](double step) {
        at::Tensor copy = part.clone();
        if (cp.rank == mover) copy.view({-1})[slot] += step;
        return copy;
      };
      const double slope = (total_loss(moved(kStep)) - total_loss(moved(-kStep))) / (2 * kStep);
      if (cp.rank == mover) largest = std::max(largest, std::abs(differentiated.grad().view({-1})[slot].item<double>() - slope));
    }
  }
  return largest < 1e-6 ? "" : "the gradient is off by " + std::to_string(largest);
}

// The first fault of any rank.
std::string fault_of_ranks(int cp, const std::function<std::string(const ProcessGroup& group)>& check) {
  std::vector<std::string> faults(static_cast<size_t>(cp));
  test::run_on_threads(cp, [&](const ProcessGroups& ranks) { faults[static_cast<size_t>(ranks.rank())] = check(ranks.group("cp")); });
  const auto fault = std::find_if(faults.begin(), faults.end(), [](const std::string& text) { return !text.empty(); });
  return fault == faults.end() ? "" : *fault;
}

TEST(FlavourProperties, WhatWasCutComesBack) {
  for (const std::string& flavour : layout::flavour_names()) {
    EXPECT_TRUE(rc::check(flavour, [&] {
      const int cp = *rc::gen::inRange(1, 5);
      const Case made = any_case(cp, 41);
      const at::Tensor values = numbers({made.rows, made.row_length}, 3);
      RC_ASSERT(fault_of_ranks(cp, [&](const ProcessGroup& group) { return round_trip_fault(flavour, made, group, values); }) == "");
    }));
  }
}

TEST(FlavourProperties, TheInverseOfTheMapIsTheMap) {
  for (const std::string& flavour : layout::flavour_names()) {
    EXPECT_TRUE(rc::check(flavour, [&] {
      const int cp = *rc::gen::inRange(2, 6);
      const Case made = any_case(cp, 41);
      for (int rank = 0; rank < cp; ++rank) RC_ASSERT(inverse_fault(flavour, made, member(rank, cp)) == "");
    }));
  }
}

TEST(FlavourProperties, GradientOfAGatherMatchesFiniteDifferences) {
  EXPECT_TRUE(rc::check([] {
    const std::string flavour = *rc::gen::elementOf(layout::flavour_names());
    const int cp = *rc::gen::inRange(1, 4);
    const Case made = any_case(cp, 9);
    const at::Tensor values = numbers({made.rows, made.row_length}, 5), weights_R = numbers({cp, made.rows, made.row_length}, 7);
    RC_ASSERT(fault_of_ranks(cp, [&](const ProcessGroup& group) { return gradient_fault(flavour, made, group, values, weights_R); }) == "");
  }));
}

// A CP group that is not the ranks 0..cp-1: collectives name ranks inside the group.
TEST(Flavours, WorkOnEverySubgroup) {
  mesh::ParallelismSizes sizes;
  sizes.dp = 2;
  sizes.cp = 2;
  const Case made = rows_case(2, 7);
  const at::Tensor values = numbers({2, 7}, 1), weights_R = numbers({2, 2, 7}, 2);
  for (const std::string& flavour : layout::flavour_names()) {
    test::run_on_threads(
        4,
        [&](const ProcessGroups& ranks) {
          const at::Tensor own = values + ranks.group("dp").rank;
          EXPECT_EQ(round_trip_fault(flavour, made, ranks.group("cp"), own), "") << flavour;
          EXPECT_EQ(gradient_fault(flavour, made, ranks.group("cp"), own, weights_R), "") << flavour;
        },
        sizes);
  }
}

// T01, the sharder's part: targets that end at document edges arrive as they were made.
TEST(Flavours, T01TargetsOfPackedDocumentsArriveUnchanged) {
  Batch batch = {{"input_ids", at::tensor({10, 11, 12, 0, 20, 21, 0, 0}, at::kLong).unsqueeze(0)},
                 {"labels", at::tensor({11, 12, -100, -100, 21, -100, -100, -100}, at::kLong).unsqueeze(0)},
                 {"position_ids", at::tensor({0, 1, 2, 3, 0, 1, 2, 3}, at::kLong).unsqueeze(0)}};
  add_document_lengths(batch, {{3, 2}}, {{4, 4}});
  for (const std::string& flavour : layout::flavour_names()) {
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

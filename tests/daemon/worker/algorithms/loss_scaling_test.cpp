// T05, T06, T07: the factor between a loss and its gradient, for losses that every rank computes whole and for losses of which each has a part.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "daemon/worker/algorithms/optimizer.h"
#include "daemon/worker/context_parallel/flavours.h"
#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/parallel/gradients.h"
#include "tests/daemon/worker/support/rank_threads.h"

namespace ringwright::worker {
namespace {

const std::vector<double> kCosts = {2, 4, 6, 8, 10, 12, 14, 16};

at::Tensor costs_BS() { return at::tensor(kCosts, at::kDouble).view({1, 8}); }

// 1 / count at the positions that count, else 0.
at::Tensor weights_BS(const std::vector<int64_t>& positions) {
  at::Tensor weights = at::zeros({1, 8}, at::kDouble);
  for (const int64_t position : positions) weights[0][position] = 1.0 / static_cast<double>(positions.size());
  return weights;
}

// Token loss w * c over one sequence: dL/dw of this rank, the loss being its own tokens' alone, or all tokens' behind a gather.
double rank_gradient(const ProcessGroup& group, const std::vector<int64_t>& positions, bool replicated) {
  Sharder sharder(make_flavour_strategy("round_robin", group.size), group);
  sharder.shard({{"input_ids", at::zeros({1, 8}, at::kLong)}, {"labels", at::zeros({1, 8}, at::kLong)}});
  at::Tensor w = at::ones({}, at::kDouble).requires_grad_(true);
  const at::Tensor losses_BL = w * sharder.shard_token_tensor(costs_BS());
  const at::Tensor loss = replicated ? (sharder.gather_token_tensor(losses_BL) * weights_BS(positions)).sum()
                                     : (losses_BL * sharder.shard_token_tensor(weights_BS(positions))).sum();
  loss.backward();
  return w.grad().item<double>();
}

double summed(double value, const ProcessGroup& group) {
  const at::Tensor sum = at::full({1}, value, at::kDouble);
  all_reduce_sum(sum, group);
  return sum.item<double>();
}

TEST(LossScaling, T05AReplicatedLossFansOutAndAPartitionedOneDoesNot) {
  test::run_on_threads(2, [](const ProcessGroups& ranks) {
    const ProcessGroup& group = ranks.group("cp");
    const double replicated = rank_gradient(group, {5, 6, 7}, true), partitioned = rank_gradient(group, {5, 6, 7}, false);
    EXPECT_NEAR(replicated, group.rank == 0 ? 20.0 : 8.0, 1e-12);
    EXPECT_NEAR(summed(replicated, group) / 2, 14.0, 1e-12) << "averaged, factor 1";
    EXPECT_NEAR(summed(partitioned, group) / 2, 7.0, 1e-12) << "averaged, without the factor 2";
    EXPECT_NEAR(summed(partitioned, group), 14.0, 1e-12) << "summed, as the trainer does";
  });
}

TEST(LossScaling, T06TheDivisorIsTheCountOverAllShards) {
  for (const auto& [positions, wanted] : std::vector<std::pair<std::vector<int64_t>, double>>{{{5, 6, 7}, 14.0}, {{7}, 16.0}})
    for (const int cp : {1, 2, 4})
      test::run_on_threads(cp, [&](const ProcessGroups& ranks) {
        EXPECT_NEAR(summed(rank_gradient(ranks.group("cp"), positions, false), ranks.group("cp")), wanted, 1e-12) << cp;
      });
}

// A toy language model: embedding and output projection; every rank takes the cross-entropy of an equal window of each of its rows.
struct Toy {
  Toy() {
    for (auto& [name, parameter] : parameters) parameter.set_requires_grad(true);
  }
  TensorMap parameters = {{"embedding", (at::arange(24, at::kDouble).view({6, 4}) * 0.37).sin()},
                          {"head", (at::arange(24, at::kDouble).view({6, 4}) * 0.53).cos()}};

  // Sum over the window's targets, divided by `target_count`.
  at::Tensor loss(const at::Tensor& ids_BL, const at::Tensor& targets_BL, int64_t target_count) const {
    const at::Tensor logits_TV = at::embedding(parameters.at("embedding"), ids_BL.flatten()).tanh().matmul(parameters.at("head").t());
    return at::cross_entropy_loss(logits_TV, targets_BL.flatten(), {}, at::Reduction::Sum, -100) / static_cast<double>(target_count);
  }
};

at::Tensor toy_ids_BS() { return at::arange(32, at::kLong).mul(7).add(3).remainder(6).view({4, 8}); }
at::Tensor toy_targets_BS() {
  at::Tensor targets = toy_ids_BS().roll(-1, 1);
  targets.select(1, 7).fill_(-100);
  targets[1].narrow(0, 0, 5).fill_(-100);  // uneven counts
  return targets;
}

TensorMap window_gradients(const ProcessGroup& dp, const ProcessGroup& cp, const ProcessGroup& all) {
  const Toy toy;
  const int64_t rows = 4 / dp.size, window = 8 / cp.size;
  const auto part = [&](const at::Tensor& tensor_BS) { return tensor_BS.narrow(0, dp.rank * rows, rows).narrow(1, cp.rank * window, window); };
  toy.loss(part(toy_ids_BS()), part(toy_targets_BS()), (toy_targets_BS() >= 0).sum().item<int64_t>()).backward();
  sum_gradients(toy.parameters, all);
  TensorMap gradients;
  for (const auto& [name, parameter] : toy.parameters) gradients[name] = parameter.grad();
  return gradients;
}

TEST(LossScaling, T05AWindowCrossEntropyHasOneGradientForEverySplit) {
  const TensorMap whole = window_gradients({}, {}, {});
  for (const auto& [dp, cp] : {std::pair(2, 1), std::pair(1, 2), std::pair(2, 2), std::pair(1, 4)}) {
    mesh::ParallelismSizes sizes;
    sizes.dp = dp, sizes.cp = cp;
    test::run_on_threads(
        dp * cp,
        [&](const ProcessGroups& ranks) {
          const TensorMap split = window_gradients(ranks.group("dp"), ranks.group("cp"), ranks.group("dp_cp"));
          for (const auto& [name, gradient] : whole)
            EXPECT_TRUE(at::allclose(split.at(name), gradient, 1e-10, 1e-12)) << name << " at dp " << dp << ", cp " << cp;
        },
        sizes);
  }
}

// Everything is kept whole on each rank of a CP group, so each parameter counts once, with the sum of its gradients.
TEST(LossScaling, T07TheNormCountsEachParameterOnce) {
  test::run_on_threads(2, [](const ProcessGroups& ranks) {
    const ProcessGroup& group = ranks.group("cp");
    TensorMap parameters = {{"halves", at::zeros({2}).requires_grad_(true)}, {"whole", at::zeros({1}).requires_grad_(true)}};
    parameters["halves"].mutable_grad() = group.rank == 0 ? at::tensor({3.0F, 0.0F}) : at::tensor({0.0F, 4.0F});
    parameters["whole"].mutable_grad() = at::tensor({6.0F});
    sum_gradients(parameters, group);
    EXPECT_NEAR(gradient_norm(parameters), 13.0, 1e-5);
    EXPECT_NEAR(clip_coefficient(gradient_norm(parameters), 1.0), 1.0 / 13, 1e-6);
  });
}

}  // namespace
}  // namespace ringwright::worker

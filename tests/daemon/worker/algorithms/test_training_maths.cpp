// T06 (global counts), the loss in chunks, AdamW, clipping and schedules against PyTorch.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "daemon/worker/algorithms/fused_nll.h"
#include "daemon/worker/algorithms/optimizer.h"
#include "daemon/worker/algorithms/schedule.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

nlohmann::json read_data(const std::string& name) {
  std::ifstream stream(std::string(RINGWRIGHT_SOURCE_DIR) + "/tests/data/training/" + name);
  return nlohmann::json::parse(stream);
}

struct Problem {
  at::Tensor hidden_Td, weight_Vd, targets_T, weights_T;
};
Problem make_problem(int64_t tokens = 23, int64_t vocabulary = 101) {
  at::manual_seed(11);
  Problem problem{at::randn({tokens, 8}).requires_grad_(true), at::randn({vocabulary, 8}).requires_grad_(true),
                  at::randint(vocabulary, {tokens}, at::kLong), at::rand({tokens})};
  problem.targets_T[4] = -100;
  problem.weights_T[4] = 0;
  problem.weights_T[6] = 0;
  return problem;
}

struct Answer {
  double loss;
  at::Tensor logprobs_T, hidden_gradient, weight_gradient;
};
Answer plain_answer(const Problem& p) {
  const at::Tensor log_p = at::log_softmax(at::linear(p.hidden_Td, p.weight_Vd).to(at::kDouble), -1);
  const at::Tensor logprobs_T = log_p.gather(1, p.targets_T.clamp_min(0).unsqueeze(1)).squeeze(1) * (p.targets_T >= 0);
  const at::Tensor loss = -(logprobs_T * p.weights_T).sum();
  loss.backward();
  Answer answer{loss.item<double>(), logprobs_T.detach(), p.hidden_Td.grad().clone(), p.weight_Vd.grad().clone()};
  p.hidden_Td.mutable_grad().reset(), p.weight_Vd.mutable_grad().reset();
  return answer;
}

TEST(FusedNll, EqualsThePlainLossForAnyChunk) {
  const Problem p = make_problem();
  const Answer wanted = plain_answer(p);
  for (const int64_t chunk : {0, 1, 5, 22, 23, 100}) {
    const FusedNll nll = fused_linear_nll(p.hidden_Td, p.weight_Vd, p.targets_T, p.weights_T, chunk);
    (nll.loss * 2).backward();
    EXPECT_NEAR(nll.loss.item<double>(), wanted.loss, 1e-4) << chunk;
    EXPECT_TRUE(at::allclose(nll.logprobs_T.to(at::kDouble), wanted.logprobs_T, 1e-5, 1e-5)) << chunk;
    EXPECT_TRUE(at::allclose(p.hidden_Td.grad(), wanted.hidden_gradient * 2, 1e-4, 1e-5)) << chunk;
    EXPECT_TRUE(at::allclose(p.weight_Vd.grad(), wanted.weight_gradient * 2, 1e-4, 1e-5)) << chunk;
    p.hidden_Td.mutable_grad().reset(), p.weight_Vd.mutable_grad().reset();
    EXPECT_TRUE(at::allclose(token_logprobs(p.hidden_Td, p.weight_Vd, p.targets_T, chunk), nll.logprobs_T)) << chunk;
  }
}

TEST(FusedNll, InDoublePrecisionTooThroughTheComposedForm) {
  Problem p = make_problem();
  p.hidden_Td = p.hidden_Td.detach().to(at::kDouble).requires_grad_(true), p.weight_Vd = p.weight_Vd.detach().to(at::kDouble).requires_grad_(true);
  p.weights_T = p.weights_T.to(at::kDouble);
  const Answer wanted = plain_answer(p);
  const FusedNll nll = fused_linear_nll(p.hidden_Td, p.weight_Vd, p.targets_T, p.weights_T, 7);
  nll.loss.backward();
  EXPECT_NEAR(nll.loss.item<double>(), wanted.loss, 1e-12);
  EXPECT_TRUE(at::allclose(p.weight_Vd.grad(), wanted.weight_gradient, 1e-10, 1e-12));
}

TEST(FusedNll, GarbageAtTokensWithoutTargetStaysOutAndNanAtATargetShows) {  // T11
  Problem p = make_problem();
  at::Tensor hidden = p.hidden_Td.detach().clone();
  hidden[4].fill_(NAN);
  hidden.requires_grad_(true);
  const FusedNll nll = fused_linear_nll(hidden, p.weight_Vd, p.targets_T, p.weights_T);
  nll.loss.backward();
  EXPECT_TRUE(std::isfinite(nll.loss.item<double>()));
  EXPECT_TRUE(hidden.grad().isfinite().all().item<bool>());
  at::Tensor broken = p.hidden_Td.detach().clone();
  broken[2][0] = NAN;
  EXPECT_TRUE(std::isnan(fused_linear_nll(broken.requires_grad_(true), p.weight_Vd, p.targets_T, p.weights_T).loss.item<double>()));
}

TEST(FusedNll, LargeLogitsNeitherOverflowNorVanish) {
  const at::Tensor hidden = at::tensor({1.0f}).reshape({1, 1}).requires_grad_(true);
  const at::Tensor weight = at::tensor({300.0f, -300.0f, 299.0f}).reshape({3, 1}).requires_grad_(true);
  const FusedNll nll = fused_linear_nll(hidden, weight, at::tensor({2}, at::kLong), at::ones({1}));
  EXPECT_NEAR(nll.loss.item<double>(), 1 + std::log1p(std::exp(-1.0)), 1e-4);
}

TEST(FusedNll, NoTargetAtAllGivesZeroLossAndGradient) {
  Problem p = make_problem();
  p.targets_T.fill_(-100), p.weights_T.fill_(0);
  const FusedNll nll = fused_linear_nll(p.hidden_Td, p.weight_Vd, p.targets_T, p.weights_T);
  nll.loss.backward();
  EXPECT_EQ(nll.loss.item<double>(), 0);
  EXPECT_EQ(p.weight_Vd.grad().abs().max().item<double>(), 0);
  EXPECT_EQ(p.hidden_Td.grad().abs().max().item<double>(), 0);
}

TEST(FusedNll, TargetOutsideTheVocabularyIsRefused) {
  const Problem p = make_problem();
  p.targets_T[0] = 101;
  EXPECT_THROW(fused_linear_nll(p.hidden_Td, p.weight_Vd, p.targets_T, p.weights_T), Error);
}

// Two micro-batches that divide by the global count give the loss and gradient of one batch, however unevenly the mask splits.
TEST(FusedNll, T06MicroBatchesDivideByTheGlobalCount) {
  Problem p = make_problem();
  for (const std::vector<int64_t>& scored : {std::vector<int64_t>{5, 6, 7}, {7}}) {
    p.targets_T.clamp_min_(0);
    p.weights_T.fill_(0);
    for (int64_t t : scored) p.weights_T[t] = 1.0 / static_cast<double>(scored.size());
    const Answer whole = plain_answer(p);
    double loss = 0;
    for (const auto& [begin, count] : {std::pair<int64_t, int64_t>{0, 6}, {6, 17}}) {
      const auto part = [b = begin, c = count](const at::Tensor& x) { return x.narrow(0, b, c); };
      const FusedNll nll = fused_linear_nll(part(p.hidden_Td), p.weight_Vd, part(p.targets_T), part(p.weights_T));
      nll.loss.backward();
      loss += nll.loss.item<double>();
    }
    EXPECT_NEAR(loss, whole.loss, 1e-5);
    EXPECT_TRUE(at::allclose(p.weight_Vd.grad(), whole.weight_gradient, 1e-4, 1e-6));
    p.hidden_Td.mutable_grad().reset(), p.weight_Vd.mutable_grad().reset();
  }
}

TEST(AdamWTest, StepsEqualTorch) {
  const nlohmann::json data = read_data("adamw.json");
  for (const nlohmann::json& one : data["cases"]) {
    const auto tensor = [](const nlohmann::json& values) { return at::tensor(values.get<std::vector<float>>()); };
    TensorMap parameters = {{"w", tensor(one["w0"]).reshape({3, 5}).requires_grad_(true)}, {"b", tensor(one["b0"]).requires_grad_(true)}};
    recipe::OptimizerConfig config;
    config.beta1 = one["beta1"], config.beta2 = one["beta2"], config.eps = one["eps"], config.weight_decay = one["weight_decay"];
    config.decay_matrices_only = one["decay_matrices_only"];
    AdamW optimizer(parameters, config);
    for (const nlohmann::json& step : one["steps"]) {
      parameters["w"].mutable_grad() = tensor(step["grad_w"]).reshape({3, 5});
      parameters["b"].mutable_grad() = tensor(step["grad_b"]);
      const double norm = gradient_norm(parameters);
      EXPECT_NEAR(norm, step["norm"].get<double>(), 1e-5);
      optimizer.step(step["lr"], clip_coefficient(norm, one["max_norm"]));
      EXPECT_TRUE(at::allclose(parameters["w"].flatten(), tensor(step["w"]), 1e-6, 1e-7)) << step["w"];
      EXPECT_TRUE(at::allclose(parameters["b"], tensor(step["b"]), 1e-6, 1e-7));
    }
    optimizer.zero_grad();
    EXPECT_FALSE(parameters["w"].grad().defined());
    const at::Tensor before = parameters["w"].detach().clone();
    optimizer.step(1);
    EXPECT_TRUE(at::equal(before, parameters["w"].detach())) << "a parameter without gradient moved";
  }
}

TEST(AdamWTest, FusedAndComposedUpdatesAgree) {
  at::manual_seed(2);
  const at::Tensor start = at::randn({40, 70});
  TensorMap narrow = {{"w", start.clone().requires_grad_(true)}}, wide = {{"w", start.to(at::kDouble).requires_grad_(true)}};
  recipe::OptimizerConfig config;
  AdamW fused(narrow, config), composed(wide, config);
  for (int step = 0; step < 5; ++step) {
    narrow["w"].mutable_grad() = at::randn({40, 70});
    wide["w"].mutable_grad() = narrow["w"].grad().to(at::kDouble);
    fused.step(1e-2, 0.5), composed.step(1e-2, 0.5);
  }
  EXPECT_TRUE(at::allclose(narrow["w"].to(at::kDouble), wide["w"], 1e-5, 1e-6));
}

TEST(ClipTest, CoefficientIsTorchs) {
  EXPECT_DOUBLE_EQ(clip_coefficient(13, 1), 1 / (13 + 1e-6));
  EXPECT_EQ(clip_coefficient(0.5, 1), 1);
  EXPECT_EQ(clip_coefficient(13, 0), 1);
}

recipe::SchedulerPiece piece_of(const nlohmann::json& json) {
  recipe::SchedulerPiece piece;
  piece.name = json["name"];
  piece.start_factor = json.value("start_factor", piece.start_factor), piece.end_factor = json.value("end_factor", piece.end_factor);
  piece.factor = json.value("factor", piece.factor), piece.eta_min = json.value("eta_min", piece.eta_min);
  piece.total_iters = json.value("total_iters", piece.total_iters), piece.t_max = json.value("t_max", piece.t_max);
  return piece;
}

TEST(ScheduleTest, RatesEqualTorch) {
  const nlohmann::json data = read_data("learning_rates.json");
  ASSERT_EQ(data["cases"].size(), 7u);
  for (const nlohmann::json& one : data["cases"]) {
    std::vector<recipe::SchedulerPiece> pieces;
    for (const nlohmann::json& piece : one["pieces"]) pieces.push_back(piece_of(piece));
    const LearningRateSchedule schedule(one["base_lr"], pieces, one["milestones"]);
    for (size_t step = 0; step < one["rates"].size(); ++step) {
      const double rate = one["rates"][step];
      EXPECT_NEAR(schedule.at(static_cast<int64_t>(step)), rate, 1e-9 * std::abs(rate) + 1e-15) << one["name"] << " step " << step;
    }
  }
}

TEST(ScheduleTest, WhatDoesNotFitIsRefused) {
  recipe::SchedulerPiece linear;
  linear.name = "LinearLR", linear.total_iters = 5;
  recipe::SchedulerPiece unknown;
  unknown.name = "torch.optim.lr_scheduler.StepLR";
  recipe::SchedulerPiece endless;
  endless.name = "CosineAnnealingLR";
  EXPECT_THROW(LearningRateSchedule(1, {unknown}, {}), Error);
  EXPECT_THROW(LearningRateSchedule(1, {endless}, {}), Error);
  EXPECT_THROW(LearningRateSchedule(1, {linear, linear}, {}), Error);
  EXPECT_THROW(LearningRateSchedule(1, {linear, linear, linear}, {9, 5}), Error);
  EXPECT_EQ(LearningRateSchedule(0.5, {}, {}).at(100), 0.5);
}

}  // namespace
}  // namespace ringwright::worker

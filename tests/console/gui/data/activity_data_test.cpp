// Pairs of tokens, and memory as it was measured.
#include <gmock/gmock.h>

#include <limits>

#include "console/gui/data/demo_recording.h"
#include "console/gui/data/measured_memory.h"
#include "console/gui/data/sample_tokens.h"
#include "console/gui/data/token_pairs.h"
#include "shared/estimate/reported.h"
#include "shared/history/activity.h"

namespace ringwright::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

history::SampleRecord sample_with(nlohmann::json pairs) { return {1, 0, {{"kind", "alignment"}, {"pairs", std::move(pairs)}}}; }

TEST(TokenPairs, AreOfOneTokenEachOfSeveralOrNotTheSame) {
  const auto pairs = token_pairs(sample_with(nlohmann::json::parse(R"([
    {"student": [" is"], "teacher": [" is"], "correct": true},
    {"student": ["Tok", "ens"], "teacher": ["Tokens"], "correct": true},
    {"student": ["a\n"], "teacher": ["<unk>"], "correct": false},
    {"student": [], "teacher": ["x"]}])")));
  ASSERT_EQ(pairs.size(), 4u);
  EXPECT_THAT(pairs[0].student, ElementsAre("\xC2\xB7is")) << "a space is seen";
  EXPECT_EQ(pairs[0].kind, PairKind::one_to_one);
  EXPECT_EQ(pairs[1].kind, PairKind::several);
  EXPECT_EQ(pairs[2].kind, PairKind::not_the_same);
  EXPECT_THAT(pairs[2].student, ElementsAre("a\\n"));
  EXPECT_EQ(pairs[3].kind, PairKind::not_the_same) << "it does not say that it is correct";
  EXPECT_EQ(pairs_sentence(pairs), "4 pairs: 1 one to one, 1 of several tokens, 2 not the same");
}

TEST(TokenPairs, WhatIsNoPairIsLeftOut) {
  EXPECT_THAT(token_pairs({1, 0, {{"kind", "alignment"}}}), IsEmpty());
  EXPECT_THAT(token_pairs(sample_with("text")), IsEmpty());
  EXPECT_THAT(token_pairs(sample_with({1, "two", {{"student", "no list"}}, {{"student", {3, nullptr}}}})), IsEmpty());
}

history::SampleRecord sample_of_tokens(nlohmann::json losses) {
  return {1, 0, {{"tokens", {" a", "b\n", "c"}}, {"token_losses", std::move(losses)}, {"token_ids", {7, 8}}}};
}

TEST(SampleTokens, HaveTheirLossesAndNoListOfAnotherLength) {
  const auto tokens = sample_tokens(sample_of_tokens({0.5, nullptr, 2.0}));
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[0].text,
            "\xC2\xB7"
            "a");
  EXPECT_EQ(tokens[1].text, "b\\n");
  EXPECT_EQ(tokens[0].loss, 0.5);
  EXPECT_FALSE(tokens[1].loss);
  EXPECT_FALSE(tokens[0].id) << "two ids for three tokens";
  EXPECT_EQ(largest_loss(tokens), 2.0);
  EXPECT_EQ(tint_of(tokens[0], 2.0), 0.25);
  EXPECT_EQ(tint_of(tokens[1], 2.0), 0.0);
  EXPECT_EQ(tint_of({"x", std::numeric_limits<double>::quiet_NaN(), {}}, 2.0), 1.0) << "what is not finite is seen";
  EXPECT_EQ(largest_loss(sample_tokens(sample_of_tokens(nullptr))), std::nullopt);
  EXPECT_THAT(sample_tokens({1, 0, {{"tokens", "a text"}}}), IsEmpty());
}

Run run_with_peaks(const std::vector<uint64_t>& peaks) {
  Run run;
  run.record.name = "tried";
  for (size_t rank = 0; rank < peaks.size(); ++rank)
    run.parts.ranks[static_cast<int>(rank)] = {static_cast<int>(rank), 1, 1, peaks[rank] / 2, peaks[rank], 0};
  return run;
}

TEST(MeasuredMemory, IsThePeakOfEachRankThatReportedOne) {
  const gui::Run run = run_with_peaks({uint64_t{300} << 20, uint64_t{612} << 20, 0});
  EXPECT_EQ(peak_bytes(run, 0), int64_t{300} << 20);
  EXPECT_EQ(peak_bytes(run, 2), std::nullopt) << "0 is no reading";
  EXPECT_EQ(peak_bytes(run, 9), std::nullopt);
  EXPECT_EQ(largest_rank(run), 1);
  EXPECT_THAT(measured_sentence(&run), StartsWith("tried took at most 612 MiB (rank 1)"));
}

TEST(MeasuredMemory, WithoutAReadingItSaysSo) {
  gui::Run run = run_with_peaks({0});
  EXPECT_EQ(largest_rank(run), std::nullopt);
  EXPECT_THAT(measured_sentence(&run), HasSubstr("has not reported"));
  run.details = Loading::reading;
  EXPECT_THAT(measured_sentence(&run), StartsWith("reading"));
  EXPECT_THAT(measured_sentence(nullptr), StartsWith("No run is selected"));
}

TEST(MeasuredMemory, ARunOfOtherSettingsIsNamedAsOne) {
  history::RunRecord run;
  const nlohmann::json recipe = {{"policy", {{"model_name", "m"}, {"precision", "float32"}}}};
  EXPECT_THAT(other_recipe_sentence(run, recipe), HasSubstr("not known"));
  run.recipe = recipe;
  EXPECT_EQ(other_recipe_sentence(run, recipe), "");
  run.recipe["policy"]["model_name"] = "another";
  EXPECT_THAT(other_recipe_sentence(run, recipe), HasSubstr("1 differs, policy.model_name"));
  run.recipe["policy"]["precision"] = "bfloat16";
  EXPECT_THAT(other_recipe_sentence(run, recipe), HasSubstr("2 differ, policy.model_name first"));
}

TEST(State, TheEstimateOfARunComesLiveAndFromTheHistory) {
  State state;
  history::RunRecord record;
  record.id = "r_a";
  state.apply(RunsRead{{record}});
  nlohmann::json body = estimate::report({{{"parameters", 5, ""}}, 7});
  body["name"] = "run.estimate";
  state.apply(wire::Event{"r_a", wire::Kind::event, 0, 1, 1, 1, body});
  ASSERT_TRUE(state.find("r_a")->parts.estimate);
  EXPECT_EQ(state.find("r_a")->parts.estimate->memory_bytes(), 5);
  state.apply(DetailsRead{"r_a", {}, {}});
  ASSERT_TRUE(state.find("r_a")->parts.estimate) << "what was read before it came does not take it away";
  RunParts read;
  read.estimate = estimate::Estimate{{{"parameters", 9, ""}}, 7};
  state.apply(DetailsRead{"r_a", {}, {}, read});
  EXPECT_EQ(state.find("r_a")->parts.estimate->memory_bytes(), 9);
}

// Each activity can be seen in the demonstration, of some run.
TEST(Demonstration, HasSamplesAndSpansOfEachActivity) {
  for (const history::Activity& activity : history::kActivities) {
    int runs = 0;
    for (int index = 0; index < 24; ++index) {
      const RunParts parts = demo::parts_of(index, demo::record_of(index));
      const bool has_samples = !history::samples_at(parts.samples, std::nullopt, &activity).empty();
      EXPECT_EQ(has_samples, history::phases_at(parts.spans, std::nullopt, &activity).has_value()) << activity.name << ", run " << index;
      runs += has_samples ? 1 : 0;
    }
    EXPECT_GE(runs, 1) << activity.name;
  }
}

}  // namespace
}  // namespace ringwright::gui

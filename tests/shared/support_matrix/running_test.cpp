#include "shared/support_matrix/running.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {
namespace {

std::vector<std::string> codes(const RunningFacts& facts) {
  std::vector<std::string> result;
  for (const RunningFinding& finding : check_running(facts)) result.push_back(finding.code);
  return result;
}

const std::vector<std::string> kSilent;

TEST(RunningRows, NothingLookedAtIsNothingFound) { EXPECT_EQ(codes({}), kSilent); }

TEST(RunningRows, ThroughputAboveTheHardwaresPeak) {
  EXPECT_EQ(codes({.flops_per_s = 2e12, .hardware_flops_per_s = 1e12}), std::vector<std::string>{"RW-GUARD-501"});
  EXPECT_EQ(codes({.flops_per_s = 1e12, .hardware_flops_per_s = 1e12}), kSilent);
  EXPECT_EQ(codes({.flops_per_s = 2e12}), kSilent);
}

TEST(RunningRows, AGapBetweenGenerationAndTraining) {
  EXPECT_EQ(codes({.logprob_gap = 0.2, .logprob_gap_max = 0.1}), std::vector<std::string>{"RW-GUARD-502"});
  EXPECT_EQ(codes({.logprob_gap = 0.1, .logprob_gap_max = 0.1}), kSilent);
}

// exp(0.05) = 1.0513.
TEST(RunningRows, AGapThatARunHasRecorded) {
  const auto found = check_recorded("train/token_mult_prob_error", 12, 1.2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, "RW-GUARD-502");
  for (const char* part : {"step 12", "0.182", "0.05"}) EXPECT_NE(found[0].reason.find(part), std::string::npos) << found[0].reason;
  EXPECT_EQ(check_recorded("train/token_mult_prob_error", 12, std::numeric_limits<double>::infinity()).size(), 1U);
  for (const double value : {1.0, 1.05, 0.5, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(check_recorded("train/token_mult_prob_error", 12, value).empty()) << value;
  EXPECT_TRUE(check_recorded("train/loss", 12, 1.2).empty());
}

TEST(RunningRows, ARankWithoutATarget) {
  const auto found = check_running({.step = 7, .rank_without_targets = 3, .slots = 512});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, "RW-GUARD-503");
  for (const char* part : {"512 slots", "rank 3", "step 7", "padding of short sequences"})
    EXPECT_NE(found[0].reason.find(part), std::string::npos) << found[0].reason;
  EXPECT_NE(found[0].fix.find("ringwright.cp.chunk"), std::string::npos) << found[0].fix;
}

TEST(RunningRows, AreAmongTheRowsOfTheDocumentation) {
  std::set<std::string> documented;
  for (const RowText& row : rows())
    if (row.level == "run") documented.insert(row.code);
  EXPECT_EQ(documented, (std::set<std::string>{"RW-GUARD-501", "RW-GUARD-502", "RW-GUARD-503"}));
}

}  // namespace
}  // namespace ringwright::support_matrix

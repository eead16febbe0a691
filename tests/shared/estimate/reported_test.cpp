// An estimate on its way from a worker to whoever shows it.
#include "shared/estimate/reported.h"

#include <gmock/gmock.h>

namespace ringwright::estimate {
namespace {

TEST(ReportedEstimate, ComesBackWithItsTermsInOrder) {
  const Estimate sent{{{"parameters", 40, "4 x 10"}, {"gradients", 40, ""}, {"optimizer", 80, ""}, {"activations", 7, ""}, {"KV blocks", 0, ""}}, 20};
  const nlohmann::json reported = report(sent);
  EXPECT_EQ(reported.at("memory_bytes"), 167);
  const auto back = estimate_in(nlohmann::json::parse(reported.dump()));
  ASSERT_TRUE(back);
  std::vector<std::string> names;
  for (const Term& term : back->terms) names.push_back(term.name);
  EXPECT_THAT(names, ::testing::ElementsAre("parameters", "gradients", "optimizer", "activations", "KV blocks"));
  EXPECT_EQ(back->memory_bytes(), 167);
  EXPECT_EQ(back->checkpoint_bytes, 20);
}

TEST(ReportedEstimate, WhatIsNoneIsNone) {
  nlohmann::json good = {{"terms", {{"parameters", 1}, {"of a later version", 2}}}, {"checkpoint_bytes", 3}};
  EXPECT_EQ(estimate_in(good)->terms.back().name, "of a later version");
  for (const nlohmann::json& odd : {nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json("1"), nlohmann::json(), nlohmann::json(UINT64_MAX)}) {
    nlohmann::json bad = good;
    bad["terms"]["parameters"] = odd;
    EXPECT_FALSE(estimate_in(bad)) << bad;
    bad = good;
    bad["checkpoint_bytes"] = odd;
    EXPECT_FALSE(estimate_in(bad)) << bad;
  }
  EXPECT_FALSE(estimate_in({{"terms", nlohmann::json::object()}, {"checkpoint_bytes", 3}}));
  EXPECT_FALSE(estimate_in(nlohmann::json::array()));
}

}  // namespace
}  // namespace ringwright::estimate

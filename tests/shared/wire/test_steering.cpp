#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "shared/wire/steering.h"
#include "shared/wire/talk_plan.h"
#include "tests/support/error_of.h"

namespace ringwright::wire {
namespace {

using test::error_code;
using test::error_of;
using ::testing::HasSubstr;

TEST(Settings, AreReadByEitherName) {
  EXPECT_EQ(describe(parse_setting("optimizer.lr=2e-4")), "optimizer.lr=0.0002");
  EXPECT_EQ(describe(parse_setting("policy.optimizer.kwargs.lr=1")), "optimizer.lr=1");
  EXPECT_EQ(describe(parse_setting("sft.val_period=0")), "sft.val_period=0");
}

TEST(Settings, WhatIsUnknownOrOutOfBoundsIsRefused) {
  const ErrorParts unknown = error_of([] { parse_setting("optimizer.rl=1"); });
  EXPECT_EQ(unknown.code, "RW-STEER-001");
  EXPECT_THAT(unknown.action, HasSubstr("optimizer.lr"));
  EXPECT_THAT(unknown.expected, HasSubstr("checkpointing.save_period"));
  for (const char* text :
       {"optimizer.lr=0", "optimizer.lr=-1", "optimizer.lr=nan", "optimizer.lr=inf", "optimizer.lr=", "optimizer.lr=1x", "optimizer.lr",
        "optimizer.weight_decay=-0.1", "sft.val_period=1.5", "checkpointing.save_period=0", "sft.val_period=1e300"})
    EXPECT_EQ(error_code([&] { parse_setting(text); }), "RW-STEER-002") << text;
  EXPECT_EQ(error_code([] { make_setting("optimizer.lr", std::numeric_limits<double>::quiet_NaN()); }), "RW-STEER-002");
}

TEST(TalkPlan, ComesBackAndNamesWhatIsWrong) {
  TalkPlan plan;
  plan.points = 5, plan.spans = true, plan.steps_per_s = 2.5, plan.from_run = "r_1";
  EXPECT_EQ(to_json(talk_plan_from_json(to_json(plan))), to_json(plan));
  EXPECT_FALSE(talk_plan_from_json(nlohmann::json::object()).talks());
  const ErrorParts unknown = error_of([] { talk_plan_from_json({{"pionts", 5}}); });
  EXPECT_EQ(unknown.code, "RW-TALK-001");
  EXPECT_THAT(unknown.action, HasSubstr("points"));
  for (const char* bad : {R"({"points": -1})", R"({"points": "many"})", R"({"names": 0})", R"({"steps_per_s": -1.0})", R"({"spans": 1})", "[]"})
    EXPECT_EQ(error_code([&] { talk_plan_from_json(nlohmann::json::parse(bad)); }), "RW-TALK-001") << bad;
}

}  // namespace
}  // namespace ringwright::wire

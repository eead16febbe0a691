#include "shared/alerts/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"

namespace ringwright::alerts {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string place(const std::string& key) { return "daemon.yaml: " + key; }

TEST(AlertSettings, EveryKeyIsRead) {
  const Settings settings = read_settings({{"command", {"notify-me", "--mail"}},
                                           {"command_time_limit_s", 3},
                                           {"repeat_after_s", 60},
                                           {"rules",
                                            {{{"kind", "threshold"}, {"metric", "train/grad_norm"}, {"above", 100}, {"steps", 3}},
                                             {{"kind", "stall"}, {"after_s", 90}},
                                             {{"kind", "straggler"}, {"ratio", 2}},
                                             {{"kind", "disk"}, {"free_below", "20 GiB"}}}}},
                                          place);
  EXPECT_EQ(settings.command, (std::vector<std::string>{"notify-me", "--mail"}));
  EXPECT_EQ(settings.command_time_limit_s, 3);
  EXPECT_EQ(settings.repeat_after_s, 60);
  ASSERT_EQ(settings.rules.size(), 4u);
  EXPECT_EQ(settings.rules[0].above, 100);
  EXPECT_FALSE(settings.rules[0].below);
  EXPECT_EQ(settings.rules[0].steps, 3);
  EXPECT_EQ(settings.rules[1].after_s, 90);
  EXPECT_EQ(settings.rules[2].ratio, 2);
  EXPECT_EQ(settings.rules[3].free_below_bytes, 20.0 * (1 << 30));
}

TEST(AlertSettings, WithoutRulesTheUsualOnesHold) {
  const Settings settings = read_settings({{"command", "mail -s alert me"}}, place);
  EXPECT_EQ(settings.command, (std::vector<std::string>{"/bin/sh", "-c", "mail -s alert me"}));
  ASSERT_EQ(settings.rules.size(), 5u);
  EXPECT_EQ(to_string(settings.rules[0].kind), "failed");
  EXPECT_EQ(to_string(settings.rules[3].kind), "disk");
  EXPECT_EQ(to_string(settings.rules[4].kind), "guard");
}

struct BadRule {
  const char* rules;
  const char* code;
  const char* where;
  const char* hint;
};

class BadRules : public testing::TestWithParam<BadRule> {};

TEST_P(BadRules, AreRefusedAtTheirKey) {
  const BadRule& bad = GetParam();
  const ErrorParts parts = test::error_of([&] { read_rules(json::parse(bad.rules), "rules", place); });
  EXPECT_EQ(parts.code, bad.code) << bad.rules << parts.what;
  EXPECT_EQ(parts.where, std::string("daemon.yaml: ") + bad.where) << bad.rules;
  EXPECT_THAT(parts.expected + " " + parts.action, HasSubstr(bad.hint)) << bad.rules;
}

INSTANTIATE_TEST_SUITE_P(AlertRules, BadRules,
                         testing::Values(BadRule{R"([{"kind": "fialed"}])", "RW-ALERT-001", "rules[0].kind", "write failed"},
                                         BadRule{R"([{"kind": "failed"}, {"metric": "x"}])", "RW-ALERT-002", "rules[1]", "write for example kind"},
                                         BadRule{R"([{"kind": "stall", "after": 3}])", "RW-ALERT-001", "rules[0].after", "write after_s"},
                                         BadRule{R"([{"kind": "stall", "after_s": 0}])", "RW-ALERT-002", "rules[0].after_s", "above 0"},
                                         BadRule{R"([{"kind": "threshold", "above": 3}])", "RW-ALERT-002", "rules[0]", "metric"},
                                         BadRule{R"([{"kind": "threshold", "metric": "x"}])", "RW-ALERT-002", "rules[0]", "above"},
                                         BadRule{R"([{"kind": "threshold", "metric": "x", "above": "much"}])", "RW-ALERT-002", "rules[0].above",
                                                 "a number"},
                                         BadRule{R"([{"kind": "nan", "metric": ""}])", "RW-ALERT-002", "rules[0].metric", "train/loss"},
                                         BadRule{R"([{"kind": "disk", "free_below": "lots"}])", "RW-ALERT-002", "rules[0].free_below", "20 GiB"},
                                         BadRule{R"([{"kind": "straggler", "steps": 0}])", "RW-ALERT-002", "rules[0].steps", "from 1 on"},
                                         BadRule{R"({"kind": "failed"})", "RW-ALERT-002", "rules", "a list"},
                                         BadRule{R"(["failed"])", "RW-ALERT-002", "rules[0]", "{kind: failed}"}));

TEST(AlertSettings, ACommandThatIsNoneIsRefused) {
  for (const json& command : {json(""), json(3), json::array(), json::array({"x", 3}), json::array({""})})
    EXPECT_EQ(test::error_code([&] { read_settings({{"command", command}}, place); }), "RW-ALERT-002") << command;
  EXPECT_EQ(test::error_code([&] { read_settings({{"comand", "x"}}, place); }), "RW-ALERT-001");
  EXPECT_EQ(test::error_code([&] { read_settings(json::array(), place); }), "RW-ALERT-002");
}

}  // namespace
}  // namespace ringwright::alerts

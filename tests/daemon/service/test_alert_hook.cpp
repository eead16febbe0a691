#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "daemon/service/alert_hook.h"
#include "tests/support/eventually.h"
#include "tests/support/processes.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::service {
namespace {

using testing::HasSubstr;

class Hook : public testing::Test {
 protected:
  // What comes of one call.
  AlertHook::Result result_of(AlertHook& hook) {
    AlertHook::Result result;
    EXPECT_TRUE(test::eventually([&] {
      for (AlertHook::Result& one : hook.tick(AlertHook::Clock::now())) result = std::move(one);
      return result.id != 0;
    }));
    return result;
  }
  AlertHook::Result shell(const std::string& command, double time_limit_s = 20, nlohmann::json input = {{"a", 1}}) {
    AlertHook hook({"/bin/sh", "-c", command}, time_limit_s);
    hook.call("r_00000001", std::move(input));
    return result_of(hook);
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(folder_ / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  test::TemporaryFolder folder_;
};

TEST_F(Hook, GetsJsonOnItsStandardInput) {
  const AlertHook::Result result = shell("cat > '" + (folder_ / "heard").string() + "'", 20, {{"alert", {{"text", "an \"odd\" text\n"}}}});
  EXPECT_TRUE(result.good) << result.what;
  EXPECT_EQ(result.run, "r_00000001");
  EXPECT_EQ(nlohmann::json::parse(read("heard")), nlohmann::json({{"alert", {{"text", "an \"odd\" text\n"}}}}));
}

TEST_F(Hook, InputThatNobodyReadsAndInputOfAnySizeDoNoHarm) {
  const nlohmann::json large = {{"text", std::string(1'000'000, 'x')}};
  EXPECT_TRUE(shell("exit 0", 20, large).good);
  EXPECT_TRUE(shell("cat > '" + (folder_ / "heard").string() + "'", 20, large).good);
  EXPECT_EQ(read("heard").size(), large.dump().size() + 1);
}

TEST_F(Hook, AFailureSaysHowAndWhat) {
  const AlertHook::Result failed = shell("echo first; echo 'no such user' >&2; exit 3");
  EXPECT_FALSE(failed.good);
  EXPECT_EQ(failed.what, "the command for alerts exited with code 3: no such user");
  EXPECT_THAT(shell("kill -9 $$").what, HasSubstr("was killed by signal 9"));
  AlertHook missing({"/no/such/program"}, 20);
  missing.call("r", {});
  const AlertHook::Result result = result_of(missing);
  EXPECT_FALSE(result.good);
  EXPECT_THAT(result.what, HasSubstr("the command for alerts cannot be started: No such file"));
}

// The time limit ends it with all that it started.
TEST_F(Hook, OneThatHangsIsEndedWithItsChildren) {
  const AlertHook::Result result = shell("sleep 600 & echo $! > '" + (folder_ / "child").string() + "'; wait", 0.3);
  EXPECT_FALSE(result.good);
  EXPECT_THAT(result.what, HasSubstr("was ended after 0.3 s"));
  EXPECT_GE(result.seconds, 0.3);
  const pid_t child = std::stoi(read("child"));
  EXPECT_TRUE(test::eventually([&] { return test::gone(child); }));
}

TEST_F(Hook, OneThatWritesForEverIsEndedToo) { EXPECT_THAT(shell("yes", 0.3).what, HasSubstr("was ended after")); }

TEST_F(Hook, ChildrenThatItLeavesAreEnded) {
  EXPECT_TRUE(shell("sleep 600 >/dev/null 2>&1 & echo $! > '" + (folder_ / "child").string() + "'").good);
  const pid_t child = std::stoi(read("child"));
  EXPECT_TRUE(test::eventually([&] { return test::gone(child); }));
}

TEST_F(Hook, CallsComeOneAfterTheOtherAndAreBounded) {
  AlertHook hook({"/bin/sh", "-c", "cat >> '" + (folder_ / "heard").string() + "'"}, 20);
  for (int i = 0; i < 110; ++i) hook.call("r", {{"number", i}});
  EXPECT_TRUE(hook.busy());
  std::vector<AlertHook::Result> results;
  EXPECT_TRUE(test::eventually([&] {
    for (AlertHook::Result& one : hook.tick(AlertHook::Clock::now())) results.push_back(std::move(one));
    return !hook.busy();
  }));
  for (AlertHook::Result& one : hook.tick(AlertHook::Clock::now())) results.push_back(std::move(one));
  ASSERT_EQ(results.size(), 110u);
  EXPECT_EQ(std::count_if(results.begin(), results.end(), [](const auto& one) { return one.good; }), 100);
  EXPECT_THAT(results.front().what, HasSubstr("was not called: 100 newer alerts wait"));
  std::istringstream lines(read("heard"));
  int expected = 10;
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(nlohmann::json::parse(line).at("number"), expected++);
}

TEST_F(Hook, OneThatRunsEndsWithTheHook) {
  {
    AlertHook hook({"/bin/sh", "-c", "echo $$ > '" + (folder_ / "pid").string() + "'; sleep 600"}, 600);
    hook.call("r", {});
    hook.tick(AlertHook::Clock::now());
    EXPECT_TRUE(test::eventually([&] { return read("pid").ends_with('\n'); }));
    EXPECT_TRUE(hook.has_process(std::stoi(read("pid"))));
  }
  EXPECT_TRUE(test::gone(std::stoi(read("pid"))));
}

}  // namespace
}  // namespace ringwright::service

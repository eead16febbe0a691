#include <gtest/gtest.h>

#include "daemon/service/launch_request.h"
#include "shared/base/error.h"

namespace ringwright::service {
namespace {

std::string code_of(const nlohmann::json& arguments) {
  try {
    read_launch_request(arguments);
  } catch (const Error& error) {
    return error.parts().code;
  }
  return "";
}

TEST(LaunchRequest, TakesWhatTheClientSends) {
  const LaunchRequest request = read_launch_request({{"recipe", {{"sft", {{"seed", 1}}}}},
                                                     {"recipe_text", "sft:"},
                                                     {"overrides", {"sft.seed=1"}},
                                                     {"name", "demo"},
                                                     {"paths", {{"model", "/m"}}},
                                                     {"mesh", {{"pp", 1}, {"dp_replicate", 1}, {"dp_shard", 2}, {"cp", 2}, {"tp", 1}}},
                                                     {"world_size", 4},
                                                     {"threads_per_rank", 3},
                                                     {"algorithm", "sft"},
                                                     {"port", 4000}});
  EXPECT_EQ(request.spec.world_size, 4);
  EXPECT_EQ(request.spec.cp, 2);
  EXPECT_EQ(request.spec.dp_shard, 2);
  EXPECT_EQ(request.spec.threads_per_rank, 3);
  EXPECT_EQ(request.spec.paths["model"], "/m");
  EXPECT_EQ(request.port, 4000);
  EXPECT_EQ(request.record.name, "demo");
  EXPECT_EQ(request.record.overrides, std::vector<std::string>{"sft.seed=1"});
  EXPECT_EQ(request.record.mesh["cp"], 2);
}

// T28: dims that do not multiply to the number of ranks are refused, and never changed.
TEST(LaunchRequest, T28DimsThatDoNotMultiplyAreRefused) {
  EXPECT_EQ(code_of({{"world_size", 8}, {"mesh", {{"dp_shard", 3}, {"tp", 2}, {"cp", 2}}}}), "RW-MESH-002");
  EXPECT_EQ(code_of({{"world_size", 8}, {"mesh", {{"dp_shard", 1}, {"tp", 3}}}}), "RW-MESH-002");
  EXPECT_EQ(code_of({{"world_size", 8}, {"mesh", {{"dp_shard", 2}, {"tp", 2}, {"cp", 2}}}}), "");
}

TEST(LaunchRequest, NamesThatWouldHideARunAreRefused) {
  EXPECT_EQ(code_of({{"name", "last"}}), "RW-STORE-016");
  EXPECT_EQ(code_of({{"name", "r_74fb"}}), "RW-STORE-016");
  EXPECT_EQ(code_of({{"name", "r_74fb-again"}}), "");
}

TEST(LaunchRequest, TalkersNeedNoRecipe) {
  const LaunchRequest request = read_launch_request({{"talk", {{"workers", 4}, {"points", 1000}}}});
  EXPECT_EQ(request.spec.world_size, 4);
  EXPECT_EQ(request.spec.talk.points, 1000u);
  EXPECT_EQ(request.record.algorithm, "talk");
}

TEST(LaunchRequest, WrongTypesAndSizesAreRefused) {
  EXPECT_EQ(code_of({{"world_size", "two"}}), "RW-DAEMON-030");
  EXPECT_EQ(code_of({{"recipe", 3}}), "RW-DAEMON-030");
  EXPECT_EQ(code_of({{"port", 70'000}}), "RW-DAEMON-030");
  EXPECT_EQ(code_of({{"world_size", 0}}), "RW-DAEMON-031");
  EXPECT_EQ(code_of({{"world_size", 1'000'000}}), "RW-DAEMON-031");
}

}  // namespace
}  // namespace ringwright::service

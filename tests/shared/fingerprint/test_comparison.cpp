#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/fingerprint/comparison.h"

namespace ringwright::fingerprint {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json machine() {
  return {{"node", "a"},
          {"cpu", {{"model", "X"}, {"flags", {"avx2"}}, {"cores", 8}}},
          {"libraries", {{"sqlite", "3.40.1"}, {"libtorch", "2.11.0"}}},
          {"shm_bytes", 64}};
}

std::vector<std::string> paths(const std::vector<Difference>& differences) {
  std::vector<std::string> names;
  for (const Difference& each : differences) names.push_back(each.path);
  return names;
}

TEST(Comparison, SameMachinesDifferInNothing) { EXPECT_TRUE(compare(machine(), machine()).empty()); }

TEST(Comparison, WhatChangesNumbersComesFirst) {
  json other = machine();
  other["node"] = "b";
  other["shm_bytes"] = 32;
  other["cpu"]["flags"] = {"avx2", "avx512f"};
  other["libraries"]["libtorch"] = "2.12.0";
  other["libraries"].erase("sqlite");
  const auto differences = compare(machine(), other);
  ASSERT_THAT(paths(differences), ElementsAre("cpu.flags", "libraries.libtorch", "libraries.sqlite", "shm_bytes", "node"));
  EXPECT_EQ(differences[0].weight, Weight::decisive);
  EXPECT_EQ(differences[1].a, "2.11.0");
  EXPECT_EQ(differences[1].b, "2.12.0");
  EXPECT_THAT(differences[1].effect, HasSubstr("losses differ"));
  EXPECT_EQ(differences[2].weight, Weight::may);
  EXPECT_TRUE(differences[2].b.is_null()) << "the other one does not say";
  EXPECT_EQ(differences.back().weight, Weight::none);
}

TEST(Comparison, InputsAreTheSameByHashWhereverTheyLie) {
  json a = machine(), b = machine();
  a["workers"]["rank 0"]["inputs"] = {{"train", {{"path", "/a/train.txt"}, {"xxh3", "1"}}},
                                      {"model", {{"files", {{"model.safetensors", {{"xxh3", "2"}}}}}}}};
  b["workers"]["rank 0"]["inputs"] = {{"train", {{"path", "/b/train.txt"}, {"xxh3", "1"}}},
                                      {"model", {{"files", {{"model.safetensors", {{"xxh3", "3"}}}}}}}};
  const auto differences = compare(a, b);
  ASSERT_THAT(paths(differences), ElementsAre("inputs.model.files.model.safetensors.xxh3", "inputs.train.path"));
  EXPECT_EQ(differences[0].effect, "not the same model");
  EXPECT_EQ(differences[1].weight, Weight::none);
  EXPECT_THAT(paths(compare(a, machine())), ElementsAre()) << "a machine alone has no inputs to compare";
}

TEST(Comparison, ARankOnAnotherProcessorIsSeen) {
  json uniform = machine(), mixed = machine();
  for (const char* rank : {"rank 0", "rank 1"}) uniform["workers"][rank]["cpu"] = mixed["workers"][rank]["cpu"] = machine()["cpu"];
  mixed["workers"]["rank 1"]["cpu"]["model"] = "Y";
  for (const auto& differences : {compare(uniform, mixed), compare(mixed, uniform)}) {
    ASSERT_THAT(paths(differences), ElementsAre("rank 1: cpu.model"));
    EXPECT_EQ(differences[0].weight, Weight::decisive);
  }
}

TEST(Comparison, WhatIsNoFingerprintComparesAsNothing) { EXPECT_TRUE(compare(json(nullptr), json::array({1})).empty()); }

}  // namespace
}  // namespace ringwright::fingerprint

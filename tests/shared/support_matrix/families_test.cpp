#include "shared/support_matrix/families.h"

#include <gtest/gtest.h>

#include <set>

namespace ringwright::support_matrix {
namespace {

TEST(Families, AModelTypeStandsInOneEntry) {
  std::set<std::string> seen;
  for (const Family& family : families()) {
    std::string_view words = family.model_types;
    while (!words.empty()) {
      const size_t end = std::min(words.find(' '), words.size());
      EXPECT_TRUE(seen.insert(std::string(words.substr(0, end))).second) << words;
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
  EXPECT_GE(seen.size(), 40U);
}

TEST(Families, ANameThatIsPartOfAnotherIsNotTakenForIt) {
  ASSERT_NE(find_family("qwen3_moe"), nullptr);
  EXPECT_EQ(find_family("qwen3_moe")->source, "qwen3_moe");
  EXPECT_EQ(find_family("qwen"), nullptr);
  EXPECT_EQ(find_family(""), nullptr);
}

TEST(Families, AnAttentionThatIsNotAskedForIsACondition) {
  const Family& llama = *find_family("llama");
  EXPECT_EQ(judge(llama, Target::automodel_0_4, {}).verdict, Verdict::conditional);
  EXPECT_EQ(judge(llama, Target::automodel_0_6, {"magi", false}).verdict, Verdict::supported);
  EXPECT_EQ(judge(llama, Target::automodel_0_4, {"magi", false}).verdict, Verdict::refused);
  EXPECT_EQ(judge(llama, Target::automodel_0_4, {"sdpa", true}).verdict, Verdict::supported);
}

TEST(Families, ThePlainClassIsNoWayForAFamilyWithoutOne) {
  EXPECT_EQ(judge(*find_family("qwen3_moe"), Target::automodel_0_6, {"sdpa", true}).verdict, Verdict::refused);
}

TEST(Families, AnAttentionThatIsTakenHasNoWayOut) {
  EXPECT_EQ(attention_way_out(*find_family("llama"), {"te", false}), "");
  EXPECT_EQ(attention_way_out(*find_family("qwen3_5_moe"), {"sdpa", false}), "") << "its condition is another";
  EXPECT_EQ(attention_way_out(*find_family("deepseek_v4"), {"tilelang", false}), "") << "0.4 refuses the family, not its attention";
  EXPECT_EQ(attention_way_out(*find_family("llama"), {"", false}), "");
}

TEST(Families, TheWayOutIsOneThatBothTargetsTakeWhereThereIsOne) {
  EXPECT_EQ(attention_way_out(*find_family("llama"), {"magi", false}), "te") << "of the target that refuses it, 0.4";
  EXPECT_EQ(attention_way_out(*find_family("llama"), {"sdpa", false}), "te");
  EXPECT_EQ(attention_way_out(*find_family("deepseek_v4"), {"te", false}), "tilelang");
}

TEST(Families, ThePlainClassOfAnyOtherModelKnowsNoBackend) {
  for (const Target target : {Target::automodel_0_4, Target::automodel_0_6}) {
    const FamilyVerdict verdict = judge(other_families(), target, {"te", false});
    EXPECT_EQ(verdict.verdict, Verdict::conditional);
    EXPECT_FALSE(verdict.refuses_backend);
  }
}

TEST(Families, APackageThatCannotBeSeenStaysACondition) {
  EXPECT_EQ(judge(*find_family("qwen3_5_moe"), Target::automodel_0_6, {"sdpa", false}).verdict, Verdict::conditional);
}

TEST(Families, FlexAttentionShardsForNobody) {
  for (const Family& family : families()) {
    for (const FamilyAnswer* answer : {&family.automodel_0_4, &family.automodel_0_6}) {
      if (answer->attention.empty()) continue;
      EXPECT_EQ(judge(family, answer == &family.automodel_0_4 ? Target::automodel_0_4 : Target::automodel_0_6, {"flex", false}).verdict,
                Verdict::refused)
          << family.model_types;
    }
  }
}

}  // namespace
}  // namespace ringwright::support_matrix

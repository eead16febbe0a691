#include "shared/doctor/version.h"

#include <gtest/gtest.h>

#include "tests/support/error_of.h"

namespace ringwright::doctor {
namespace {

TEST(Version, ComesInTheOrderOfPep440) {
  const char* ordered[] = {"1.0.dev1", "1.0a1.dev2", "1.0a1", "1.0b2", "1.0rc1", "1.0", "1.0.post1", "1.0.1", "1.10", "2!0.1"};
  for (size_t i = 0; i + 1 < std::size(ordered); ++i) EXPECT_LT(Version(ordered[i]), Version(ordered[i + 1])) << ordered[i];
  EXPECT_EQ(Version("1.0"), Version("1.0.0"));
  EXPECT_EQ(Version("v1.0-RC.1"), Version("1.0rc1"));
  EXPECT_EQ(Version("2.11.0+cu130"), Version("2.11.0")) << "a pin without a local part takes any";
}

TEST(Version, SpecifiersMeanWhatPipTakesThemFor) {
  struct Row {
    const char* version;
    const char* specifiers;
    bool good;
  };
  const Row rows[] = {
      {"5.5.0", ">=5.5.0,<5.9.0", true},
      {"5.9.0", ">=5.5.0,<5.9.0", false},
      {"5.9.0rc1", "<5.9.0", false},
      {"5.8.3.post1", "<5.9.0", true},
      {"5.12.1", "<=5.12.1", true},
      {"5.12.2", "<=5.12.1", false},
      {"5.12.1", "==5.12.1", true},
      {"5.12.1+local", "==5.12.1", true},
      {"5.12.10", "==5.12.1", false},
      {"0.1.11", "==0.1.*", true},
      {"0.2", "==0.1.*", false},
      {"0.2", "!=0.1.*", true},
      {"1.4.5", "~=1.4.2", true},
      {"1.5.0", "~=1.4.2", false},
      {"1.9", "~=1.4", true},
      {"1.0.post1", ">1.0", false},
      {"1.1", ">1.0", true},
      {"1.0", "", true},
      {"5.6.0.dev0", ">=5.5.0", true},
  };
  for (const Row& row : rows) EXPECT_EQ(satisfies(Version(row.version), row.specifiers), row.good) << row.version << " " << row.specifiers;
  EXPECT_EQ(first_broken(Version("5.9.1"), ">=5.5.0, <5.9.0"), "<5.9.0");
}

TEST(Version, WhatIsNoneIsRefused) {
  for (const std::string text : {"", "unknown", "1.0.", "1..0", "99999999999999999999", std::string(5000, '1').c_str()})
    EXPECT_EQ(test::error_code([&] { (void)Version(text); }), "RW-DOCTOR-010") << text;
  for (const char* specifier : {"5.5.0", "=5.5.0", "~=5", ">=x"})
    EXPECT_EQ(test::error_code([&] { (void)satisfies(Version("1.0"), specifier); }), "RW-DOCTOR-010") << specifier;
}

}  // namespace
}  // namespace ringwright::doctor

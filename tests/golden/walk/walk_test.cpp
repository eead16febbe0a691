// The walk of golden_cp over a folder of somebody else's.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/golden/cp/cp_goldens.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::golden {
namespace {

int checked_cases = 0;

class GoldenWalk : public testing::Test {
 protected:
  void SetUp() override { ::setenv("RINGWRIGHT_GOLDENS", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("RINGWRIGHT_GOLDENS"); }

  void write(const std::string& file, const std::string& op) {
    folder_.write(file, R"({"schema": 1, "family": "f", "cases": [{"id": "f/one", "op": ")" + op + R"("}]})");
  }
  int status(bool has_tensors = true) {
    checked_cases = 0;
    return run_cp_goldens({{"known", [](const nlohmann::json&) { ++checked_cases; }}}, has_tensors);
  }

  test::TemporaryFolder folder_;
};

TEST_F(GoldenWalk, CasesOfSubFoldersAreRun) {
  write("cp/a.json", "known");
  write("cp/more/deeper/b.json", "known");
  write("elsewhere/c.json", "unknown");
  EXPECT_EQ(status(), 0);
  EXPECT_EQ(checked_cases, 2);
}

TEST_F(GoldenWalk, AnUnknownKindInASubFolderIsAFailure) {
  write("cp/a.json", "known");
  write("cp/more/b.json", "unknown");
  EXPECT_EQ(status(), 1);
  EXPECT_EQ(checked_cases, 1);
}

TEST_F(GoldenWalk, AFolderWithoutCpIsTakenItself) {
  write("a.json", "known");
  write("more/b.json", "known");
  EXPECT_EQ(status(), 0);
  EXPECT_EQ(checked_cases, 2);
  write("more/c.json", "unknown");
  EXPECT_EQ(status(), 1);
}

TEST_F(GoldenWalk, AFileThatIsNoFamilyIsAFailureAndNoCaseAtAllToo) {
  EXPECT_EQ(status(), 1);
  write("cp/a.json", "known");
  folder_.write("cp/b.json", "{");
  EXPECT_EQ(status(), 1);
}

TEST_F(GoldenWalk, KindsOfTensorsAreFailuresOnlyWhereTensorsAre) {
  write("cp/a.json", "known");
  write("cp/b.json", std::string(kTensorKinds[0]));
  EXPECT_EQ(status(false), 0);
  EXPECT_EQ(status(true), 1);
}

}  // namespace
}  // namespace ringwright::golden

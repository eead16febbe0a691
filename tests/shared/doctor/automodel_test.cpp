#include "shared/doctor/automodel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/doctor/git.h"
#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::doctor {
namespace {

using support_matrix::Target;
using test::TemporaryFolder;
using ::testing::HasSubstr;

constexpr const char* kSubmodule = "3rdparty/Automodel-workspace/Automodel";

// A commit id that no release has: those of the releases cannot be made here, so the link in NeMo RL's tree is written by number.
std::string id(const std::string& first) { return first + std::string(40 - first.size(), '0'); }

class MadeUpNemoRl {
 public:
  MadeUpNemoRl() {
    git("", {"init", "-q"});
    folder_.write("README", "x");
    git("", {"add", "README"});
  }
  void record(const std::string& commit) {
    git("", {"update-index", "--add", "--cacheinfo", "160000," + commit + "," + kSubmodule});
    git("", {"-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "x"});
  }
  // A repository where the submodule is; returns its commit.
  std::string check_out() {
    std::filesystem::create_directories(path() / kSubmodule);
    git(kSubmodule, {"init", "-q"});
    folder_.write(std::string(kSubmodule) + "/file", "1");
    git(kSubmodule, {"add", "file"});
    git(kSubmodule, {"-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "x"});
    return checked_out_commit(path() / kSubmodule);
  }
  void git(const std::string& folder, const std::vector<std::string>& arguments) const {
    const GitAnswer answer = ask_git(path() / folder, arguments);
    EXPECT_EQ(answer.exit_code, 0) << answer.err;
  }
  const TemporaryFolder& folder() const { return folder_; }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

const Observation* find(const std::vector<Observation>& observations, const std::string& name) {
  for (const Observation& each : observations)
    if (each.name == name) return &each;
  return nullptr;
}

TEST(Automodel, RecordedCommitIsComparedWithTheTargets) {
  MadeUpNemoRl made;
  made.record(id("89c248a1"));
  const AutomodelCheckout checkout = read_automodel_checkout(made.path());
  EXPECT_EQ(checkout.recorded, id("89c248a1"));
  EXPECT_EQ(checkout.checked_out, "") << "the folder is not a repository of its own, whatever stands above it";
  EXPECT_EQ(find(compare_with_target(checkout, Target::automodel_0_6), "Automodel, recorded")->health, Health::good);
  const auto old = compare_with_target(checkout, Target::automodel_0_4);
  EXPECT_EQ(find(old, "Automodel, recorded")->health, Health::bad);
  EXPECT_THAT(find(old, "Automodel, recorded")->fix, HasSubstr("24b47e85"));
  const Observation* missing = find(old, "Automodel, checked out");
  EXPECT_EQ(missing->health, Health::bad);
  EXPECT_THAT(missing->commands.front(), HasSubstr("submodule update --init"));
}

TEST(Automodel, ACommitOnTheBranchIsNotTheReleases) {
  MadeUpNemoRl made;
  made.record(id("7e9493d7"));
  const auto seen = compare_with_target(read_automodel_checkout(made.path()), Target::automodel_0_6);
  EXPECT_EQ(seen.front().health, Health::bad);
  EXPECT_THAT(seen.front().seen, HasSubstr("branch r0.6.0"));
}

TEST(Automodel, WhatIsCheckedOutIsNotWhatIsRecorded) {
  MadeUpNemoRl made;
  made.record(id("89c248a1"));
  const std::string commit = made.check_out();
  const AutomodelCheckout checkout = read_automodel_checkout(made.path());
  EXPECT_EQ(checkout.checked_out, commit);
  const auto seen = compare_with_target(checkout, Target::automodel_0_6);
  EXPECT_EQ(find(seen, "Automodel, checked out")->health, Health::bad);
  EXPECT_THAT(find(seen, "Automodel, checked out")->seen, HasSubstr("not the recorded commit"));
  EXPECT_EQ(find(seen, "Automodel, files")->health, Health::good);
}

TEST(Automodel, AMovedTagIsNotTrustedAndChangedFilesAreSeen) {
  MadeUpNemoRl made;
  const std::string commit = made.check_out();
  made.record(commit);
  made.git(kSubmodule, {"tag", "v0.6.0"});
  made.folder().write(std::string(kSubmodule) + "/file", "2");
  const auto seen = compare_with_target(read_automodel_checkout(made.path()), Target::automodel_0_6);
  EXPECT_EQ(find(seen, "Automodel, recorded")->health, Health::bad) << "a tag of that name makes no release";
  EXPECT_EQ(find(seen, "tag v0.6.0")->health, Health::note);
  EXPECT_THAT(find(seen, "tag v0.6.0")->seen, HasSubstr("moved or made anew"));
  EXPECT_EQ(find(seen, "Automodel, files")->health, Health::note);
  EXPECT_THAT(find(seen, "Automodel, files")->seen, HasSubstr("1 changed"));
}

TEST(Automodel, OldNemoRlWithNewAutomodelFailsAtImport) {
  AutomodelCheckout checkout;
  checkout.nemo_rl = "rl";
  checkout.recorded = checkout.staged = id("24b47e85");
  checkout.checked_out = id("89c248a1");
  for (const Target target : {Target::automodel_0_4, Target::automodel_0_6}) {
    const auto seen = compare_with_target(checkout, target);
    EXPECT_EQ(find(seen, "Automodel, checked out")->health, Health::bad);
    EXPECT_THAT(find(seen, "Automodel, checked out")->seen, HasSubstr("fails at import"));
  }
}

TEST(Automodel, AStagedChangeOfTheLinkIsSaid) {
  MadeUpNemoRl made;
  made.record(id("24b47e85"));
  made.git("", {"update-index", "--cacheinfo", "160000," + id("89c248a1") + "," + kSubmodule});
  const auto seen = compare_with_target(read_automodel_checkout(made.path()), Target::automodel_0_4);
  EXPECT_EQ(seen.front().health, Health::good);
  EXPECT_THAT(seen.front().seen, HasSubstr("staged: 89c248a1"));
}

TEST(Automodel, WhatIsNoCheckoutOfNemoRlIsRefused) {
  TemporaryFolder empty;
  EXPECT_EQ(test::error_code([&] { read_automodel_checkout(empty.path()); }), "RW-DOCTOR-021");
  EXPECT_EQ(test::error_code([&] { read_automodel_checkout(empty.path() / "gone"); }), "RW-DOCTOR-021");
  MadeUpNemoRl made;
  made.git("", {"-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "x"});
  EXPECT_EQ(test::error_code([&] { read_automodel_checkout(made.path()); }), "RW-DOCTOR-022");
}

}  // namespace
}  // namespace ringwright::doctor

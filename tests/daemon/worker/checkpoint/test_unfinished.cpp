#include <gtest/gtest.h>

#include "daemon/worker/checkpoint/unfinished.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::worker {
namespace {

TEST(UnfinishedFolders, OnlyWhatNobodyWritesIsRemoved) {
  const test::TemporaryFolder folder;
  for (const char* name : {"tmp_step_1", "tmp_step_2.old", "tmp_step_", "step_1", "tmp_step_x"}) {
    std::filesystem::create_directories(folder / name / "policy");
    folder.write(std::string(name) + "/policy/weights", "x");
  }
  folder.write("tmp_step_7", "a file");
  {
    const UnfinishedFolder in_work(folder / "tmp_step_3");
    remove_abandoned_folders(folder.path());
    EXPECT_TRUE(std::filesystem::exists(in_work.path()));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "tmp_step_1"));
  for (const char* kept : {"tmp_step_2.old", "tmp_step_", "step_1", "tmp_step_x", "tmp_step_7"})
    EXPECT_TRUE(std::filesystem::exists(folder / kept)) << kept;
  remove_abandoned_folders(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder / "tmp_step_3")) << "its writer has gone";
  remove_abandoned_folders(folder / "nowhere");
}

}  // namespace
}  // namespace ringwright::worker

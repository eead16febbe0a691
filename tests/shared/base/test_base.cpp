// Looking at files before they are opened, writing them in one step, text that is fit for a terminal, and differences of texts.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/base/line_diff.h"
#include "shared/base/printable.h"
#include "shared/base/resources.h"
#include "tests/support/temporary_folder.h"

namespace ringwright {
namespace {

TEST(Files, SayWhatIsNoRegularFile) {
  const test::TemporaryFolder folder;
  folder.write("file", "x");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder / "pipe", folder / "link to a pipe");
  EXPECT_EQ(files::kind_if_not_regular(folder / "file"), "");
  EXPECT_EQ(files::kind_if_not_regular(folder / "link"), "");
  EXPECT_EQ(files::kind_if_not_regular(folder / "nothing"), "");
  EXPECT_EQ(files::kind_if_not_regular(folder.path()), "a folder");
  EXPECT_EQ(files::kind_if_not_regular(folder / "pipe"), "a pipe");
  EXPECT_EQ(files::kind_if_not_regular(folder / "link to a pipe"), "a pipe");
  EXPECT_EQ(files::kind_if_not_regular("/dev/null"), "a device");
}

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Files, AreReplacedInOneStepWithTheirModeAndThroughLinks) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("file", "old"), link = folder / "link";
  std::filesystem::create_symlink("file", link);
  ASSERT_EQ(::chmod(file.c_str(), 0604), 0);
  std::ifstream reader(file);  // of the old bytes, whatever comes
  files::replace(link, std::string_view("n\0w", 3));
  EXPECT_EQ(read(file), std::string("n\0w", 3));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0604U);
  std::string old;
  reader >> old;
  EXPECT_EQ(old, "old");
  files::replace(folder / "fresh", "x");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3) << "nothing is left beside them";
}

TEST(Files, ThatCannotBeReplacedStay) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(files::replace(folder / "no/such/folder/file", "x"), std::system_error);
  std::filesystem::create_directory(folder / "folder");
  EXPECT_THROW(files::replace(folder / "folder", "x"), std::system_error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(LineDiff, IsTheUnifiedFormWithThreeLinesAround) {
  EXPECT_EQ(text::unified_diff("a\n", "a\n", "x", "y"), "");
  EXPECT_EQ(text::unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "x", "y"),
            "--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(text::unified_diff("", "a\n", "x", "y"), "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(text::unified_diff("a\nb", "a\nc", "x", "y"),
            "--- x\n+++ y\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n");
}

TEST(LineDiff, ChangesFarApartAreTwoHunksAndNearOnesAreOne) {
  std::string before, far, near;
  for (int i = 0; i < 30; ++i) {
    const std::string line = std::to_string(i) + "\n";
    before += line;
    far += i == 5 || i == 25 ? "new\n" : line;
    near += i == 5 || i == 12 ? "" : line;
  }
  const auto hunks = [&](const std::string& after) {
    const std::string diff = text::unified_diff(before, after, "x", "y");
    size_t count = 0;
    for (size_t at = 0; (at = diff.find("\n@@ ", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(hunks(far), 2U);
  EXPECT_EQ(hunks(near), 1U);
}

TEST(Resources, OpenFilesAreRaisedToTheHardLimitOrNamed) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  resources::allow_open_files(64);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_GE(after.rlim_cur, 64u);
  try {
    resources::allow_open_files(before.rlim_max + 1);
    FAIL() << "more than the hard limit allows";
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-LIMIT-001");
    EXPECT_NE(error.parts().what.find("RLIMIT_NOFILE"), std::string::npos);
    EXPECT_NE(error.parts().action.find("ulimit"), std::string::npos);
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(Printable, EscapesWhatWouldMoveTheCursor) {
  EXPECT_EQ(text::printable("plain, \xc3\xa4\xe2\x82\xac\ttab"), "plain, \xc3\xa4\xe2\x82\xac\ttab");
  EXPECT_EQ(text::printable("a\x1b[2J\r\n\x7f"), "a\\x1b[2J\\x0d\\x0a\\x7f");
  EXPECT_EQ(text::printable("\xc2\x9b"
                            "31m"),
            "\\x9b31m");  // a C1 control, which some terminals take for ESC [
  EXPECT_EQ(text::printable("\xc2\xa0"), "\xc2\xa0");
  EXPECT_EQ(text::printable("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(text::printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(text::printable_lines("one\ntwo\x1b"), "one\ntwo\\x1b");
}

}  // namespace
}  // namespace ringwright

// Looking at files before they are opened, and text that is fit for a terminal.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "shared/base/files.h"
#include "shared/base/printable.h"
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

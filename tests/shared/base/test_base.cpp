// Looking at files before they are opened, writing them in one step, text that is fit for a terminal, and differences of texts;
// the host.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "shared/base/error.h"
#include "shared/base/file_lock.h"
#include "shared/base/files.h"
#include "shared/base/host.h"
#include "shared/base/json_depth.h"
#include "shared/base/line_diff.h"
#include "shared/base/printable.h"
#include "shared/base/resources.h"
#include "shared/base/text.h"
#include "shared/base/text_lines.h"
#include "tests/support/temporary_folder.h"

namespace ringwright {
namespace {

TEST(Host, KnowsItsNameAndWhereThisProgramIs) {
  utsname system{};
  ASSERT_EQ(::uname(&system), 0);
  EXPECT_EQ(host::node_name(), system.nodename);
  EXPECT_TRUE(std::filesystem::equivalent(host::program_folder(), std::filesystem::path(RINGWRIGHT_BINARY_DIR) / "tests"));
}

TEST(Host, KnowsItsMemory) {
  EXPECT_GT(host::memory_bytes(), uint64_t{1} << 28);
  EXPECT_EQ(host::memory_bytes() % 4096, 0u);
}

TEST(Text, ShellWordsSurviveAShell) {
  EXPECT_EQ(text::shell_word("plain/path-1.0"), "plain/path-1.0");
  EXPECT_EQ(text::shell_word("++policy.seed=7"), "++policy.seed=7");
  EXPECT_EQ(text::shell_word("=true"), "'=true'");
  EXPECT_EQ(text::shell_word("it's >=1"), "'it'\\''s >=1'");
  EXPECT_EQ(text::shell_word("a\nb"), "'a\nb'");
  EXPECT_EQ(text::shell_word(""), "''");
  EXPECT_EQ(text::one_line("a\nb\n"), "a b ");
}

TEST(Text, CharactersOfUtf8HaveALength) {
  EXPECT_EQ(text::utf8_sequence_bytes("a"), 1u);
  EXPECT_EQ(text::utf8_sequence_bytes("\xC3\xA4rger"), 2u);
  EXPECT_EQ(text::utf8_sequence_bytes("\xE2\x96\x88"), 3u);
  EXPECT_EQ(text::utf8_sequence_bytes("\xF0\x9F\x8E\xB5"), 4u);
  for (const char* none : {"", "\x96", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) EXPECT_EQ(text::utf8_sequence_bytes(none), 0u);
}

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

TEST(Files, ADeviceOrAPipeIsWrittenToAndStays) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  files::replace(folder / "pipe", "bytes");
  char bytes[16] = {};
  EXPECT_EQ(::read(reader, bytes, sizeof bytes), 5);
  ::close(reader);
  EXPECT_STREQ(bytes, "bytes");
  EXPECT_EQ(files::kind_if_not_regular(folder / "pipe"), "a pipe");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Files, RootsReplacementKeepsTheOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("file", "old");
  ASSERT_EQ(::chown(file.c_str(), 1234, 1235), 0);
  files::replace(file, "new");
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1234U);
  EXPECT_EQ(status.st_gid, 1235U);
}

TEST(Files, ALockHoldsUntilItsEnd) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("file", "x");
  const int other = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(other, 0);
  {
    const files::Lock lock(file);
    EXPECT_EQ(::flock(other, LOCK_EX | LOCK_NB), -1);
    EXPECT_EQ(errno, EWOULDBLOCK);
  }
  EXPECT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  ::close(other);
  EXPECT_THROW(files::Lock(folder / "nothing"), std::system_error);
}

TEST(JsonDepth, CountsBracketsOutsideTexts) {
  EXPECT_EQ(text::json_depth("1"), 0);
  EXPECT_EQ(text::json_depth(R"({"a": [1, {"b": 2}], "c": []})"), 3);
  EXPECT_EQ(text::json_depth(R"(["[[[\"[[", "]"])"), 1);
  EXPECT_EQ(text::json_depth(std::string(400'000, '[')), 400'000);
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
// The errno of what a call throws, 0 when it throws nothing.
template <class Call>
int errno_of(Call&& call) {
  try {
    call();
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

TEST(Files, AReadThatFailsIsNotTheEndOfTheFile) {
  const test::TemporaryFolder folder;
  const std::string bytes(200'000, 'x');
  EXPECT_EQ(files::read_all(folder.write("file", bytes)), bytes);
  EXPECT_EQ(files::read_all(folder.write("empty", "")), "");
  EXPECT_EQ(errno_of([&] { files::read_all(folder / "nothing"); }), ENOENT);
  EXPECT_EQ(errno_of([&] { files::read_all(folder.path()); }), EISDIR);
  EXPECT_EQ(errno_of([&] { files::read_all("/proc/self/mem"); }), EIO);
  EXPECT_EQ(errno_of([&] { files::read_all(folder / "file", bytes.size() - 1); }), EFBIG);
  EXPECT_EQ(errno_of([&] { files::read_all(folder / "file", bytes.size()); }), 0);
  std::string line;
  EXPECT_EQ(errno_of([&] { TextLines(folder / "nothing"); }), ENOENT);
  EXPECT_EQ(errno_of([&] { TextLines("/proc/self/mem").next(line); }), EIO);
}

TEST(Files, LinesComeWithoutTheirEndsAndWithoutAByteOrderMark) {
  const test::TemporaryFolder folder;
  TextLines lines(folder.write("file", "\xEF\xBB\xBFone\r\n\n\xEF\xBB\xBFthree"));
  std::string line;
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "one");
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "");
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "\xEF\xBB\xBFthree") << "a mark stands at the start of the file alone";
  EXPECT_EQ(lines.number(), 3);
  EXPECT_FALSE(lines.next(line));
}

TEST(Files, AFolderThatCannotBeWrittenIsFoundOutByTrying) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(files::why_not_writable(folder.path()), "");
  EXPECT_EQ(files::why_not_writable(folder / "new/below"), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "the trial left something behind";
  EXPECT_NE(files::why_not_writable("/proc"), "") << "its permissions let root write there";
  EXPECT_NE(files::why_not_writable("/proc/new/below"), "");
  EXPECT_NE(files::why_not_writable(folder.write("file", "x") / "below"), "");
}

TEST(Text, ExcerptsLeaveTheMiddleOut) {
  EXPECT_EQ(text::excerpt("short", 5), "short");
  EXPECT_EQ(text::excerpt("0123456789abcdef", 13), "012345[...]ef");
  EXPECT_EQ(text::excerpt("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 9), "\xc3\xa4[...]") << "no character is cut apart";
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  EXPECT_EQ(text::excerpt_around(letters, 0, 18), "abcdefghijklm[...]");
  EXPECT_EQ(text::excerpt_around(letters, 13, 18), "[...]jklmnopq[...]");
  EXPECT_EQ(text::excerpt_around(letters, 26, 18), "[...]nopqrstuvwxyz");
}

TEST(Text, AnExcerptIsNeverLongerThanAskedFor) {
  const std::string wide = "\xc3\xa4\xc3\xa4\xf0\x9f\x8c\x8d-\xc3\xa4\xe2\x96\x88\xc3\xa4\xc3\xa4\xf0\x9f\x8c\x8d\xc3\xa4\xe2\x96\x88\xc3\xa4!";
  for (size_t most = 16; most <= wide.size() + 1; ++most) {
    EXPECT_LE(text::excerpt(wide, most).size(), most);
    EXPECT_TRUE(text::is_utf8(text::excerpt(wide, most)));
    for (size_t at = 0; at <= wide.size(); ++at) {
      const std::string around = text::excerpt_around(wide, at, most);
      EXPECT_LE(around.size(), most) << at;
      EXPECT_TRUE(text::is_utf8(around)) << at;
    }
  }
}

TEST(Error, WhatIsQuotedCannotFillTheTerminal) {
  const std::string huge(180'000, 'x');
  const Error error({"RW-TEST-001", "the text '" + huge + "' is too long", huge, huge, huge});
  EXPECT_LT(std::string(error.what()).size(), 500u);
  EXPECT_LT(error.parts().expected.size(), 500u);
  EXPECT_LT(error.parts().action.size(), 500u);
  EXPECT_LT(error.parts().where.size(), 5000u) << "a path is not cut";
  EXPECT_TRUE(error.parts().what.starts_with("the text 'xx"));
  EXPECT_TRUE(error.parts().what.ends_with("xx' is too long"));
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

TEST(Text, KnowsUtf8) {
  for (const char* good : {"", "plain", "\xC3\xA4", "\xF0\x9F\x8C\x8D"}) {
    EXPECT_TRUE(text::is_utf8(good)) << good;
    EXPECT_EQ(text::valid_utf8(good), good);
  }
  for (const char* bad : {"\xFF", "a\xC3", "\xC3(", "\xED\xA0\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_FALSE(text::is_utf8(bad));
    EXPECT_TRUE(text::is_utf8(text::valid_utf8(bad)));
  }
}

}  // namespace
}  // namespace ringwright

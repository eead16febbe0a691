// The folder of the sockets: where it is, whose it is, and how long its path may be.
#include "shared/base/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr size_t kSocketPathBytesMax = 107;  // of sockaddr_un::sun_path, without its end

// A variable of the environment, as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) { value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_); }

  const char* name_;
  std::optional<std::string> before_;
};

mode_t mode_of(const fs::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

ErrorParts refusal_of(const fs::path& folder) {
  const ErrorParts parts = test::error_of([&] { paths::private_directory(folder); });
  EXPECT_EQ(parts.code, "RW-PATH-001");
  EXPECT_EQ(parts.where, folder.string());
  EXPECT_EQ(parts.exit_code, ExitCode::unreachable);
  return parts;
}

TEST(RuntimeFolder, IsMadeForItsUserAlone) {
  const test::TemporaryFolder folder;
  const Variable base("XDG_RUNTIME_DIR", folder.path().string());
  const mode_t mask = ::umask(0);
  EXPECT_EQ(paths::runtime_directory(), folder / "ringwright");
  ::umask(mask);
  EXPECT_EQ(mode_of(folder / "ringwright"), 0700u);
  EXPECT_EQ(paths::runtime_directory(), folder / "ringwright") << "it may be there already";
}

// Without the variable it lies where others may write, so it has to be the user's, and only that.
TEST(RuntimeFolder, WithoutTheVariableIsAFolderOfTheUsers) {
  for (const std::optional<std::string>& value : {std::optional<std::string>(), std::optional<std::string>(""), std::optional<std::string>("run")}) {
    const Variable base("XDG_RUNTIME_DIR", value);
    const fs::path expected = "/tmp/ringwright-" + std::to_string(::getuid());
    const bool was_there = fs::exists(expected);
    EXPECT_EQ(paths::default_runtime_directory(), expected);
    EXPECT_EQ(fs::exists(expected), was_there) << "asking where it is makes nothing";
    EXPECT_EQ(paths::runtime_directory(), expected);
    struct stat status{};
    ASSERT_EQ(::lstat(expected.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, ::getuid());
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    if (!was_there) fs::remove(expected);
  }
}

TEST(RuntimeFolder, OneThatOthersMayEnterIsRefused) {
  const test::TemporaryFolder folder;
  const fs::path open = folder / "open";
  fs::create_directory(open);
  for (const mode_t mode : {0755, 0710, 0701, 0777}) {
    ASSERT_EQ(::chmod(open.c_str(), mode), 0);
    EXPECT_THAT(refusal_of(open).expected, HasSubstr("0700"));
  }
  ASSERT_EQ(::chmod(open.c_str(), 0700), 0);
  EXPECT_EQ(paths::private_directory(open), open);
}

TEST(RuntimeFolder, OneOfAnotherUserIsRefused) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const test::TemporaryFolder folder;
  const fs::path theirs = folder / "theirs";
  fs::create_directory(theirs);
  ASSERT_EQ(::chmod(theirs.c_str(), 0700), 0);
  ASSERT_EQ(::chown(theirs.c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal_of(theirs).what, HasSubstr("not yours alone"));
}

// A link in /tmp may have been laid by anybody.
TEST(RuntimeFolder, ALinkOrAFileInItsPlaceIsRefused) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "mine");
  ASSERT_EQ(::chmod((folder / "mine").c_str(), 0700), 0);
  fs::create_directory_symlink(folder / "mine", folder / "link");
  refusal_of(folder / "link");
  folder.write("file", "");
  refusal_of(folder / "file");
  EXPECT_THAT(refusal_of(folder / "none" / "below").what, HasSubstr("No such file"));
}

TEST(SocketPaths, HaveAtMost107Bytes) {
  const std::string longest = "/" + std::string(kSocketPathBytesMax - 1, 'a');
  EXPECT_EQ(paths::ipc_endpoint(longest), "ipc://" + longest);
  const ErrorParts parts = test::error_of([&] { paths::ipc_endpoint(longest + "a"); });
  EXPECT_EQ(parts.code, "RW-PATH-002");
  EXPECT_EQ(parts.exit_code, ExitCode::unreachable);
  EXPECT_EQ(parts.where, longest + "a");
  EXPECT_THAT(parts.expected, ::testing::AllOf(HasSubstr("107"), HasSubstr("108")));
  EXPECT_THAT(parts.action, HasSubstr("XDG_RUNTIME_DIR"));
}

}  // namespace
}  // namespace ringwright

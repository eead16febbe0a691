// Exceptions that nobody expected still reach people as an error with a code and a way out.
#include "console/cli/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "tests/support/temporary_folder.h"

namespace ringwright::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

template <class Exception>
ErrorParts parts_from(const Exception& exception) {
  const ErrorParts parts = parts_of(std::make_exception_ptr(exception));
  EXPECT_FALSE(parts.action.empty()) << parts.what << " has no way out";
  return parts;
}

TEST(Failure, EachKindHasACodeAndAWayOut) {
  EXPECT_EQ(parts_from(std::bad_alloc()).code, "RW-CLI-031");
  EXPECT_EQ(parts_from(std::length_error("vector::reserve")).code, "RW-CLI-031");
  const ErrorParts file = parts_from(fs::filesystem_error("cannot rename", "/the/place", std::make_error_code(std::errc::permission_denied)));
  EXPECT_EQ(file.code, "RW-CLI-032");
  EXPECT_EQ(file.where, "/the/place");
  EXPECT_THAT(file.what, HasSubstr("Permission denied"));
  EXPECT_EQ(parts_from(std::system_error(std::make_error_code(std::errc::no_space_on_device), "write")).code, "RW-CLI-032");
  const ErrorParts rest = parts_from(std::out_of_range("map::at"));
  EXPECT_EQ(rest.code, "RW-CLI-033");
  EXPECT_THAT(rest.what, HasSubstr("map::at"));
  EXPECT_EQ(parts_from(7).code, "RW-CLI-033");
  EXPECT_EQ(rest.exit_code, ExitCode::run_failed);
  const Error refusal({"RW-MESH-001", "what", "where", "", "action", ExitCode::refused});
  EXPECT_EQ(parts_from(refusal).code, "RW-MESH-001");
  EXPECT_EQ(parts_from(refusal).exit_code, ExitCode::refused);
}

TEST(Failure, AWorkingDirectoryThatIsGoneIsNamed) {
  const fs::path home = fs::current_path();
  const test::TemporaryFolder folder;
  fs::create_directory(folder / "gone");
  fs::current_path(folder / "gone");
  fs::remove(folder / "gone");
  ErrorParts parts;
  try {
    static_cast<void>(fs::absolute("file"));
  } catch (...) {
    parts = parts_of(std::current_exception());
  }
  fs::current_path(home);
  EXPECT_EQ(parts.code, "RW-CLI-032");
  EXPECT_THAT(parts.what, HasSubstr("working directory"));
  EXPECT_THAT(parts.action, HasSubstr("cd"));
}

}  // namespace
}  // namespace ringwright::cli

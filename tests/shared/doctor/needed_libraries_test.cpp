#include "shared/doctor/needed_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.h"

namespace ringwright::doctor {
namespace {

using test::TemporaryFolder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NeededLibraries, OfThisProgramAreFoundByTheLoader) {
  EXPECT_THAT(needed_libraries("/proc/self/exe"), Contains("libc.so.6"));
  EXPECT_THAT(missing_libraries("/proc/self/exe", {}), IsEmpty());
}

// The name of a library in a copy of this program, made one that no system has.
TEST(NeededLibraries, OneThatIsNowhereIsNamedUnlessAFolderHasIt) {
  const TemporaryFolder folder;
  std::ifstream own("/proc/self/exe", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(own), {});
  const std::vector<std::string> needed = needed_libraries("/proc/self/exe");
  const std::string real = *std::find_if(needed.begin(), needed.end(), [](const std::string& each) { return each.starts_with("lib"); });
  std::string made_up = real;
  made_up[3] = '_';
  for (size_t at = 0; (at = bytes.find(real + '\0', at)) != std::string::npos; ++at) bytes.replace(at, real.size(), made_up);
  const auto file = folder.write("program", bytes);
  EXPECT_THAT(missing_libraries(file, {}), ElementsAre(made_up));
  folder.write("lib/" + made_up, "");
  EXPECT_THAT(missing_libraries(file, {folder / "lib"}), IsEmpty());
}

TEST(NeededLibraries, DamagedFilesHaveNone) {
  const TemporaryFolder folder;
  std::ifstream own("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  own.read(head.data(), static_cast<std::streamsize>(head.size()));
  EXPECT_THAT(needed_libraries(folder / "gone"), IsEmpty());
  EXPECT_THAT(needed_libraries(folder.write("text", "no library")), IsEmpty());
  EXPECT_THAT(needed_libraries(folder.write("cut", head)), IsEmpty());
}

}  // namespace
}  // namespace ringwright::doctor

// The program as a user starts it: pictures, and what it says where there is no display (T39).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <png.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include "tests/console/gui/console_fixture.h"

namespace ringwright::gui {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string errors;
};

// `display`: nullptr takes the variables away.
Outcome run_program(const std::vector<std::string>& arguments, const char* display, const std::filesystem::path& folder) {
  const std::filesystem::path errors = folder / "stderr.txt";
  const pid_t child = ::fork();
  if (child == 0) {
    const int out = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, STDERR_FILENO);
    ::unsetenv("WAYLAND_DISPLAY");
    if (display == nullptr) {
      ::unsetenv("DISPLAY");
    } else {
      ::setenv("DISPLAY", display, 1);
    }
    std::vector<char*> argv = {const_cast<char*>("ringwright-console")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(RINGWRIGHT_BINARY_DIR "/ringwright-console", argv.data());
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::ifstream stream(errors);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), std::string((std::istreambuf_iterator<char>(stream)), {})};
}

std::vector<uint8_t> read_picture(const std::filesystem::path& file, int& width, int& height) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, file.c_str()) == 0) return {};
  image.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> rgb(PNG_IMAGE_SIZE(image));
  png_image_finish_read(&image, nullptr, rgb.data(), 0, nullptr);
  width = static_cast<int>(image.width), height = static_cast<int>(image.height);
  return rgb;
}

TEST(Program, T39WithoutADisplayItSaysSoInOneLineAndExits7) {
  const TemporaryFolder folder;
  for (const char* display : {static_cast<const char*>(nullptr), ":4711"}) {
    const Outcome outcome = run_program({"--demo", "2"}, display, folder.path());
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    EXPECT_NE(outcome.errors.find("no display"), std::string::npos) << outcome.errors;
    EXPECT_NE(outcome.errors.find("ringwright runs list"), std::string::npos) << outcome.errors;
  }
}

TEST(Program, WrongArgumentsAndFilesHaveTheirExitCodes) {
  const TemporaryFolder folder;
  const char* display = ::getenv("DISPLAY");
  EXPECT_EQ(run_program({"--size", "12x"}, display, folder.path()).exit_code, 2);
  EXPECT_EQ(run_program({"--view", "nowhere", "--demo", "1"}, display, folder.path()).exit_code, 2);
  EXPECT_EQ(run_program({"--store", "a.db", "--demo", "1"}, display, folder.path()).exit_code, 2);
  const Outcome missing = run_program({(folder.path() / "missing.db").string(), "--screenshot", "x.png"}, display, folder.path());
  EXPECT_EQ(missing.exit_code, 6) << missing.errors;
  std::ofstream(folder.path() / "no.db") << "this is no database, and long enough to be looked at as one";
  EXPECT_EQ(run_program({(folder.path() / "no.db").string(), "--screenshot", "x.png"}, display, folder.path()).exit_code, 6);
}

TEST(Program, APictureHasTheAskedSizeManyColoursAndIsTheSameTwice) {
  const TemporaryFolder folder;
  const char* display = ::getenv("DISPLAY");
  const auto take = [&](const std::string& name) {
    const std::string file = (folder.path() / name).string();
    EXPECT_EQ(run_program({"--screenshot", file, "--view", "watch", "--demo", "12", "--theme", "dark", "--scale", "1", "--size", "1280x800"}, display,
                          folder.path())
                  .exit_code,
              0);
    int width = 0, height = 0;
    std::vector<uint8_t> pixels = read_picture(file, width, height);
    EXPECT_EQ(width, 1280);
    EXPECT_EQ(height, 800);
    return pixels;
  };
  const std::vector<uint8_t> first = take("a.png"), second = take("b.png");
  EXPECT_EQ(first, second);
  std::set<uint32_t> colors;
  for (size_t i = 0; i + 2 < first.size(); i += 3) colors.insert(first[i] << 16 | first[i + 1] << 8 | first[i + 2]);
  EXPECT_GT(colors.size(), 500u) << "an empty picture has few";
}

}  // namespace
}  // namespace ringwright::gui

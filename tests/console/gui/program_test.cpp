// The program as a user starts it: pictures, and what it says where there is no display (T39).
#include "tests/support/program.h"

#include <gtest/gtest.h>
#include <png.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "tests/console/gui/close_request.h"
#include "tests/support/daemon_process.h"
#include "tests/support/eventually.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::gui {
namespace {

// `display`: nullptr takes the variables away.
test::Environment console_environment(const test::TemporaryFolder& folder, const char* display) {
  test::Environment variables = test::clean_environment(folder.path());
  for (const char* name : {"LIBGL_ALWAYS_SOFTWARE", "XAUTHORITY"})
    if (const char* value = ::getenv(name)) variables[name] = value;
  if (display != nullptr) variables["DISPLAY"] = display;
  return variables;
}

test::Outcome run_program(const std::vector<std::string>& arguments, const char* display, const test::TemporaryFolder& folder,
                          const test::Environment& more = {}) {
  test::Environment variables = console_environment(folder, display);
  for (const auto& [name, value] : more) variables[name] = value;
  return test::Program(folder.path(), arguments, "ringwright-console", variables).wait();
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

// One line with the cause and the command to use, and an exit code of its own.
void expect_refusal(const test::Outcome& outcome, const std::string& cause) {
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(cause), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("ringwright runs list"), std::string::npos) << outcome.err;
}

// T39 (a), (b)
TEST(Program, T39WithoutADisplayItSaysSoInOneLineAndExits7) {
  const test::TemporaryFolder folder;
  for (const char* display : {static_cast<const char*>(nullptr), ":4711"})
    expect_refusal(run_program({"--demo", "2"}, display, folder), "no display");
}

// T39 (c): with a run going on, which notices nothing.
TEST(Program, T39cNoWindowAndNoReasonIsStillSaid) {
  const test::TemporaryFolder folder;
  const test::DaemonProcess daemon(folder);
  const std::string run = daemon.launch(1);
  daemon.wait_for_processes(run, 1);
  const char* sanitizer = ::getenv("ASAN_OPTIONS");
  const test::Environment window_is_refused = {{"LD_PRELOAD", RINGWRIGHT_BINARY_DIR "/tests/no_window.so"},
                                               {"ASAN_OPTIONS", std::string(sanitizer ? sanitizer : "") + ":verify_asan_link_order=0"}};
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"--demo", "2"}, {"--demo", "2", "--screenshot", "x.png"}})
    expect_refusal(run_program(arguments, ::getenv("DISPLAY"), folder, window_is_refused), "gave no window and no reason");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.png"));
  EXPECT_EQ(daemon.record(run).state, history::RunState::running);
  daemon.request("run.stop", {{"run", run}});
  EXPECT_EQ(daemon.wait_for_end(run).state, history::RunState::stopped);
}

// T39 (d)
TEST(Program, T39dAnOpenGLThatIsTooOldIsSaid) {
  const test::TemporaryFolder folder;
  expect_refusal(run_program({"--demo", "2"}, ::getenv("DISPLAY"), folder, {{"MESA_GL_VERSION_OVERRIDE", "2.1"}}), "OpenGL 3.3");
}

// T39 (e)
TEST(Program, T39eAWaylandDesktopWithoutX11IsToldWhatToInstall) {
  const test::TemporaryFolder folder;
  expect_refusal(run_program({"--demo", "2"}, nullptr, folder, {{"WAYLAND_DISPLAY", "wayland-0"}}), "Xwayland");
}

// T39: what works without a display does not even load the windowing library.
TEST(Program, T39TheOtherProgramsDoNotLinkTheWindowingLibrary) {
  const auto names_glfw = [](const char* program) {
    std::ifstream in(std::string(RINGWRIGHT_BINARY_DIR) + "/" + program, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    return bytes.find("libglfw.so") != std::string::npos;
  };
  EXPECT_TRUE(names_glfw("ringwright-console")) << "the test looks for the wrong name";
  EXPECT_FALSE(names_glfw("ringwright"));
  EXPECT_FALSE(names_glfw("ringwrightd"));
}

// T36 over the programs: the window of a console whose daemon is stopped (SIGSTOP) closes when the user closes it.
TEST(Program, T36ClosingTheWindowDoesNotWaitForAFrozenDaemon) {
  const test::TemporaryFolder folder;
  test::DaemonOptions options;
  options.runtime_directory = folder / "ringwright";
  const test::DaemonProcess daemon(folder, options);
  daemon.kill(SIGSTOP);
  test::Program console(folder.path(), {"--size", "800x600"}, "ringwright-console", console_environment(folder, ::getenv("DISPLAY")));
  const bool asked = test::eventually([] { return ask_to_close("Ringwright"); }, 30);
  const auto start = std::chrono::steady_clock::now();
  if (!asked) ::kill(console.pid(), SIGKILL);
  const test::Outcome outcome = console.wait();
  daemon.kill(SIGCONT);
  ASSERT_TRUE(asked) << outcome.err;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(Program, WrongArgumentsAndFilesHaveTheirExitCodes) {
  const test::TemporaryFolder folder;
  const char* display = ::getenv("DISPLAY");
  EXPECT_EQ(run_program({"--size", "12x"}, display, folder).exit_code, 2);
  EXPECT_EQ(run_program({"--view", "nowhere", "--demo", "1"}, display, folder).exit_code, 2);
  EXPECT_EQ(run_program({"--store", "a.db", "--demo", "1"}, display, folder).exit_code, 2);
  const test::Outcome missing = run_program({(folder.path() / "missing.db").string(), "--screenshot", "x.png"}, display, folder);
  EXPECT_EQ(missing.exit_code, 6) << missing.err;
  std::ofstream(folder.path() / "no.db") << "this is no database, and long enough to be looked at as one";
  EXPECT_EQ(run_program({(folder.path() / "no.db").string(), "--screenshot", "x.png"}, display, folder).exit_code, 6);
}

TEST(Program, APictureHasTheAskedSizeManyColoursAndIsTheSameTwice) {
  const test::TemporaryFolder folder;
  const char* display = ::getenv("DISPLAY");
  const auto take = [&](const std::string& name) {
    const std::string file = (folder.path() / name).string();
    EXPECT_EQ(run_program({"--screenshot", file, "--view", "watch", "--demo", "12", "--theme", "dark", "--scale", "1", "--size", "1280x800"}, display,
                          folder)
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

#include "tests/console/gui/console_fixture.h"

#include <imgui_internal.h>
#include <stdlib.h>

#include <chrono>

namespace ringwright::gui {

std::unique_ptr<Graphics> ConsoleTest::graphics_;
ImGuiTestEngine* ConsoleTest::engine_ = nullptr;
ConsoleTest* ConsoleTest::current_ = nullptr;

Options demo_options(int runs, const std::string& view) {
  Options options;
  options.demo_runs = runs;
  options.view = view;
  options.theme = "dark";
  options.scale = 1;
  return options;
}

void ConsoleTest::SetUpTestSuite() { start(Graphics::Mode::none, 1600, 900); }

void ConsoleTest::start(Graphics::Mode mode, int width, int height) {
  if (engine_ != nullptr) {
    if (current_ != nullptr) current_->application_.reset();
    TearDownTestSuite();
  }
  graphics_ = std::make_unique<Graphics>(mode, width, height);
  engine_ = ImGuiTestEngine_CreateContext();
  ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine_);
  io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  io.ConfigNoThrottle = true;
  io.ConfigLogToTTY = true;
  io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Error;
  io.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Info;
  ImGuiTestEngine_Start(engine_, ImGui::GetCurrentContext());
  ImGui::GetIO().ConfigDebugHighlightIdConflicts = true;
}

void ConsoleTest::TearDownTestSuite() {
  ImGuiTestEngine_Stop(engine_);
  graphics_.reset();
  ImGuiTestEngine_DestroyContext(engine_);
  engine_ = nullptr;
}

void ConsoleTest::TearDown() { current_ = nullptr; }

void ConsoleTest::SetUp() {
  current_ = this;
  ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
  ::setenv("XDG_STATE_HOME", folder_.path().c_str(), 1);
  ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
}

void ConsoleTest::open(const Options& options) {
  application_.reset();
  application_ = std::make_unique<Application>(options, *graphics_);
  frames(4);
}

void ConsoleTest::frames(int count) {
  for (int i = 0; i < count; ++i) {
    application_->frame();
    ImGuiTestEngine_PostSwap(engine_);
  }
}

void ConsoleTest::drive(void (*steps)(ImGuiTestContext*)) {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  ImGuiTest* test = IM_REGISTER_TEST(engine_, "console", name.c_str());
  test->SetOwnedName(name.c_str());
  test->TestFunc = steps;
  ImGuiTestEngine_QueueTest(engine_, test);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!ImGuiTestEngine_IsTestQueueEmpty(engine_)) {
    frames(1);
    if (std::chrono::steady_clock::now() > deadline && ImGuiTestEngine_TryAbortEngine(engine_)) break;
  }
  EXPECT_EQ(test->Output.Status, ImGuiTestStatus_Success);
  ImGuiTestEngine_UnregisterTest(engine_, test);
}

bool ConsoleTest::window_is_sound(const char* name) const {
  const ImGuiWindow* window = ImGui::FindWindowByName(name);
  if (window == nullptr) return false;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  return window->Size.x >= 100 && window->Size.y >= 80 && window->Pos.x >= 0 && window->Pos.y >= 0 && window->Pos.x < display.x &&
         window->Pos.y < display.y;
}

}  // namespace ringwright::gui

// A console without a visible window, and the test engine that works it.
#pragma once

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <filesystem>
#include <memory>
#include <string>

#include "console/gui/app/application.h"
#include "tests/support/eventually.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::gui {

// Of a console that shows so many synthetic runs, dark, at 100 %.
Options demo_options(int runs, const std::string& view = "watch");

// One window and one engine for a whole suite; each test has an application of its own.
class ConsoleTest : public ::testing::Test {
 public:
  // What the test engine's scripts reach through self().
  static ConsoleTest& self() { return *current_; }
  Application& app() { return *application_; }
  Context& context() { return application_->context(); }
  // Draws frames until `condition` holds, at most 20 s.
  template <class Condition>
  bool eventually(Condition condition) {
    return test::eventually(condition, 20, [this] { frames(1); });
  }

 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;
  // Graphics and engine anew: what was there is taken away. For suites with another mode, and for tests with another size.
  static void start(Graphics::Mode mode, int width, int height);

  void open(const Options& options);
  void frames(int count);
  // Runs `steps` as a script of the test engine, which reaches the fixture through self(). Fails when it takes longer than 30 s.
  void drive(void (*steps)(ImGuiTestContext*));

  static const Graphics& graphics() { return *graphics_; }
  bool window_is_sound(const char* name) const;

  test::TemporaryFolder folder_;  // outlives the application, which saves its layouts there when it ends
  std::unique_ptr<Application> application_;

 private:
  static std::unique_ptr<Graphics> graphics_;
  static ImGuiTestEngine* engine_;
  static ConsoleTest* current_;
};

}  // namespace ringwright::gui

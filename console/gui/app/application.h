// The console without its window: state, source, commands and shell. Tests drive it frame by frame.
#pragma once

#include <memory>

#include "console/gui/app/graphics.h"
#include "console/gui/app/options.h"
#include "console/gui/app/shell.h"
#include "console/gui/data/source.h"
#include "console/gui/services/commands.h"
#include "console/gui/services/context.h"

namespace ringwright::gui {

class Application {
 public:
  // ImGui's contexts must exist. Throws Error when the history file cannot be read.
  Application(const Options& options, Graphics& graphics);
  ~Application();

  // Takes in what the source has, then draws one frame.
  void frame();
  // Blocks until the next frame is due: at once while the operator does something or something has come in, seldom while nothing changes.
  void wait();
  // The source has not yet handed over what it was asked for.
  bool is_reading() const;
  bool quit_wanted() const { return context_->quit_wanted; }
  Context& context() { return *context_; }
  Shell& shell() { return *shell_; }

 private:
  void take_updates();
  void take_picture_of_part();
  void take_recipe();
  void show_newest_runs();
  const Run& first_run();
  void measure();
  bool has_news() const;
  double due_in_s(double now_s) const;

  Graphics& graphics_;
  UpdateQueue queue_;
  State state_;
  CommandRegistry commands_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Background> background_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Shell> shell_;
  std::string wanted_run_;  // the one to select first; "": the newest
  bool personal_ = false;   // layouts and preferences are the user's: kept
  double measured_at_ = 0;
  double frame_at_s_ = 0, input_at_s_ = 0;  // when the last frame began, and the last one with input
  uint64_t measured_events_ = 0;
};

// The program: parses, opens, runs. The exit code.
int run_console(int argc, char** argv);

}  // namespace ringwright::gui

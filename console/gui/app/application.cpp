#include "console/gui/app/application.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <iostream>
#include <limits>

#include "console/gui/app/preferences.h"
#include "console/gui/services/keys_file.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/services/recipe_dialogs.h"
#include "console/gui/services/run_commands.h"
#include "console/gui/services/style.h"
#include "shared/base/paths.h"

namespace ringwright::gui {
namespace {

constexpr size_t kUpdatesPerFrameMax = 20'000;
constexpr int kPictureFrames = 4;  // fonts, dock layout and column widths have settled by then
constexpr auto kPictureWait = std::chrono::seconds(5);
constexpr double kFrameSecondsMin = 1.0 / 60;  // where no display sets the pace
constexpr double kLookSeconds = 0.25;          // what comes in wakes an idle window; what a signal asks for is seen within this time
constexpr double kAfterInputSeconds = 2;       // so long what the operator did may still move: drawn every kMovingSeconds
constexpr double kMovingSeconds = 0.1;
constexpr double kLiveSeconds = 1, kStillSeconds = 5;  // ages grow while a daemon is there; on a file nothing does
constexpr double kMeasureSeconds = 1;

std::unique_ptr<Source> source_for(const Options& options, UpdateQueue& queue) {
  if (options.demo_runs > 0) return make_demo_source(queue, options.demo_runs, !options.screenshot);
  if (options.store) return make_history_source(queue, *options.store);
  if (options.connect) return make_ssh_source(queue, *options.connect);
  return make_daemon_source(queue);
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool is_workspace(const std::string& id) {
  for (const WorkspaceEntry& entry : workspaces()) {
    if (entry.id == id) return true;
  }
  return false;
}

void check_view(const std::string& id) {
  if (is_workspace(id)) return;
  std::string known = "prepare, watch, compare, investigate";
  for (const ViewEntry& entry : view_entries()) {
    if (entry.id == id) return;
    known += ", " + entry.id;
  }
  throw Error({"RW-GUI-004", "there is no view '" + id + "'", "--view", known, "use one of these", ExitCode::usage});
}

void read_own_keys(CommandRegistry& registry, Context& context) {
  const std::vector<std::string> faults = apply_keys_file(registry, keys_file());
  if (faults.empty()) return;
  const std::string rest = faults.size() > 1 ? fmt::format("{} more of its lines are left out; ", faults.size() - 1) : "";
  context.notify(Notice::Level::warning, faults.front(), rest + "correct " + keys_file().string() + " and start again");
}

}  // namespace

Application::Application(const Options& options, Graphics& graphics)
    : graphics_(graphics), queue_([&graphics] { graphics.wake(); }), wanted_run_(options.run) {
  personal_ = !options.screenshot && options.demo_runs == 0;
  Preferences preferences = personal_ ? load_preferences() : Preferences{};
  if (!options.theme.empty()) preferences.theme = options.theme;
  if (options.scale > 0) preferences.scale = options.scale;
  set_theme(theme_named(preferences.theme));
  set_scale(preferences.scale > 0 ? preferences.scale : graphics.monitor_scale());
  const std::string fonts_notice = load_fonts();
  apply_style();
  source_ = source_for(options, queue_);
  background_ = std::make_unique<Background>([source = source_.get()] { return source->history_file(); });
  context_ = std::make_unique<Context>(state_, *source_, commands_, *background_);
  context_->kept = std::move(preferences.kept);
  context_->read_only = options.read_only;
  context_->still = options.screenshot.has_value();
  if (context_->still) context_->selection.rank = 1;  // a picture of a layout shows what a click on a rank lights
  add_shell_commands(commands_);
  add_recipe_commands(commands_);
  if (personal_) context_->recipe.keep_journal(paths::config_directory() / "console");
  if (options.recipe) context_->recipe.open(*options.recipe);
  add_run_commands(commands_);
  shell_ = std::make_unique<Shell>(*context_, personal_);
  if (personal_) read_own_keys(commands_, *context_);
  if (is_workspace(options.view)) {
    context_->workspace = options.view;
  } else {
    shell_->show_only(options.view);
  }
  if (!fonts_notice.empty()) context_->notify(Notice::Level::warning, fonts_notice);
}

Application::~Application() {
  queue_.close();  // a source that waits for room gives up
  if (shell_) shell_->save();
  shell_.reset();
  context_.reset();
  background_.reset();  // before the source, whose file it reads
}

void Application::take_updates() {
  for (Update& update : queue_.take(kUpdatesPerFrameMax)) state_.apply(std::move(update));
  for (Notice& notice : state_.take_notices()) context_->notify(std::move(notice));
  take_recipe();
  show_newest_runs();
  context_->want_details(context_->selection.run);  // a run that was started from here is selected before it is known
  context_->places.note(context_->selection);
  context_->alerts.refresh(*context_);
}

void Application::take_recipe() {
  RecipeWorkbench& recipe = context_->recipe;
  if (const auto dropped = graphics_.take_dropped_files(); !dropped.empty()) {
    open_recipe(*context_, dropped.front());
    if (dropped.size() > 1) context_->notify(Notice::Level::info, "Prepare shows one recipe: " + dropped.front().filename().string());
  }
  recipe.poll();
  for (Notice& notice : recipe.take_notices()) context_->notify(std::move(notice));
  if (const auto run = recipe.take_started_run()) {
    context_->select(*run);
    context_->requested_workspace = "watch";
  }
}

void Application::show_newest_runs() {
  Selection& selection = context_->selection;
  if (selection.chosen_by_user || !state_.runs_known()) return;
  int shown = 0;
  for (const auto& run : state_.runs()) {
    const bool idle = run->record.state == history::RunState::queued || history::is_final(run->record.state);
    if (run->record.last_step < 0 && idle) continue;
    if (shown++ == kShownRunsAtStart) break;
    selection.shown.insert(run->record.id);
    context_->want_details(run->record.id);
  }
  if (selection.run.empty() && !state_.runs().empty()) {
    context_->select(first_run().record.id);
    context_->cli_line = "ringwright runs show " + selection.run;
  }
}

// The one that was asked for, else the newest that has something to show.
const Run& Application::first_run() {
  const auto& runs = state_.runs();
  const std::string wanted = std::exchange(wanted_run_, "");
  if (!wanted.empty()) {
    const auto is_wanted = [&](const auto& run) { return run->record.id.starts_with(wanted) || run->record.name == wanted; };
    if (const auto found = std::find_if(runs.begin(), runs.end(), is_wanted); found != runs.end()) {
      context_->selection.shown.insert((*found)->record.id);
      return **found;
    }
    context_->notify(Notice::Level::warning, fmt::format("There is no run '{}'. The newest is shown.", wanted), "ringwright runs list");
  }
  const auto found = std::find_if(runs.begin(), runs.end(), [](const auto& run) { return run->record.last_step >= 0; });
  return found == runs.end() ? *runs.front() : **found;
}

bool Application::is_reading() const {
  if (!state_.runs_known() && !state_.failure()) return true;
  if (background_->busy() || !context_->recipe.is_idle()) return true;
  return std::any_of(state_.runs().begin(), state_.runs().end(), [](const auto& run) { return run->details == Loading::reading; });
}

void Application::measure() {
  const double now = ImGui::GetTime();
  if (now - measured_at_ < kMeasureSeconds) return;
  const uint64_t events = state_.events_applied();
  context_->events_per_s = static_cast<double>(events - measured_events_) / (now - measured_at_);
  measured_at_ = now;
  measured_events_ = events;
}

bool Application::has_news() const {
  return !queue_.empty() || graphics_.has_dropped_files() || ImGui::GetCurrentContext()->InputEventsQueue.Size > 0 || graphics_.close_asked() ||
         context_->quit_wanted;
}

// Seconds until a frame is due although nothing has come in.
double Application::due_in_s(double now_s) const {
  const bool moving =
      now_s - input_at_s_ < kAfterInputSeconds || !context_->toasts.empty() || ImGui::GetIO().WantTextInput || background_->busy() || is_reading();
  const double every_s = moving ? kMovingSeconds : (state_.link().state == LinkState::local ? kStillSeconds : kLiveSeconds);
  return std::min(every_s, context_->redraw_within_s) - (now_s - frame_at_s_);
}

void Application::wait() {
  for (double now_s = seconds_now(); now_s - frame_at_s_ < kFrameSecondsMin; now_s = seconds_now())
    graphics_.wait_for_input(kFrameSecondsMin - (now_s - frame_at_s_));
  while (!has_news() && !graphics_.resized()) {
    const double due_s = due_in_s(seconds_now());
    if (due_s <= 0) return;
    graphics_.wait_for_input(std::min(due_s, kLookSeconds));
  }
}

void Application::frame() {
  frame_at_s_ = seconds_now();
  if (ImGui::GetCurrentContext()->InputEventsQueue.Size > 0) input_at_s_ = frame_at_s_;
  context_->redraw_within_s = std::numeric_limits<double>::infinity();
  take_updates();
  if (std::exchange(context_->style_changed, false)) {
    apply_style();
    context_->keep_wanted = true;
  }
  if (std::exchange(context_->keep_wanted, false) && personal_) save_preferences({std::string(theme().name), scale(), context_->kept});
  shell_->prepare_frame();
  const auto start = std::chrono::steady_clock::now();
  graphics_.frame([&] {
    commands_.handle_keys(*context_);
    shell_->draw();
  });
  take_picture_of_part();
  if (!context_->still) {
    measure();
    context_->frame_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
}

// What a view has asked for, cut out of the frame; it is written off the draw thread.
void Application::take_picture_of_part() {
  if (!context_->picture) return;
  context_->redraw_within_s = 0;
  if (--context_->picture->in_frames > 0) return;
  const PictureWanted wanted = *std::exchange(context_->picture, std::nullopt);
  const std::vector<uint8_t> whole = graphics_.pixels();
  if (whole.empty()) {
    context_->notify(ErrorParts{"RW-GUI-031", "this console draws no pixels that could be saved", wanted.file, "", "use one with a window"});
    return;
  }
  const auto clamped = [](float at, int end) { return std::clamp(static_cast<int>(std::lround(at)), 0, end); };
  const int left = clamped(wanted.low.x, graphics_.width()), right = clamped(wanted.high.x, graphics_.width());
  const int top = clamped(wanted.low.y, graphics_.height()), bottom = clamped(wanted.high.y, graphics_.height());
  std::vector<uint8_t> part;
  for (int row = top; row < bottom; ++row) {
    const auto start = whole.begin() + (static_cast<std::ptrdiff_t>(row) * graphics_.width() + left) * 4;
    part.insert(part.end(), start, start + static_cast<std::ptrdiff_t>(right - left) * 4);
  }
  const auto write = [part = std::move(part), wanted, width = right - left, height = bottom - top, this]() -> BackgroundTasks::Outcome {
    write_png(wanted.file, part, width, height);
    return [this, file = wanted.file] { context_->notify(Notice::Level::good, "Saved: " + file); };
  };
  context_->recipe.tasks().run(write, [this](const ErrorParts& parts) { context_->notify(parts); });
}

namespace {

void take_picture(const Options& options) {
  Graphics graphics(Graphics::Mode::offscreen, options.width, options.height);
  Application application(options, graphics);
  // A store or a daemon is read on another thread: the picture waits for what it has, within reason.
  const auto deadline = std::chrono::steady_clock::now() + kPictureWait;
  while (application.is_reading() && std::chrono::steady_clock::now() < deadline) application.frame();
  for (int i = 0; i < kPictureFrames; ++i) application.frame();
  write_png(*options.screenshot, graphics.pixels(), options.width, options.height);
}

// So that a console that is told to end leaves no ssh, no folder and no unsaved journal behind.
volatile std::sig_atomic_t end_asked = 0;
void ask_for_end(int) { end_asked = 1; }

void show_window(const Options& options) {
  Graphics graphics(Graphics::Mode::window, options.width, options.height);
  Application application(options, graphics);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, ask_for_end);
  while (!graphics.close_asked() && !application.quit_wanted() && !end_asked) {
    application.frame();
    application.wait();
  }
}

}  // namespace

int run_console(int argc, char** argv) {
  try {
    const std::optional<Options> options = parse_options(argc, argv);
    if (!options) return 0;
    check_view(options->view);
    if (options->screenshot) {
      take_picture(*options);
    } else {
      show_window(*options);
    }
    return 0;
  } catch (const Error& error) {
    if (error.exit_code() == ExitCode::no_display) {
      std::cerr << "ringwright-console: " << error.what() << "; " << error.parts().action << "\n";
    } else {
      std::cerr << describe(error.parts()) << "\n";
    }
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace ringwright::gui

#include "console/cli/run_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "console/cli/run_text.h"
#include "console/cli/terminal.h"
#include "shared/base/printable.h"
#include "shared/base/text.h"
#include "shared/history/metric_value.h"

namespace ringwright::cli {
namespace {

constexpr auto kBarPeriod = std::chrono::milliseconds(100);
constexpr auto kLinePeriod = std::chrono::seconds(1);
constexpr int kBarColumns = 26;
constexpr size_t kErrorsShownMax = 1000;

std::string value_or_dash(const std::optional<double>& value, std::string (*format)(double)) { return value ? format(*value) : "-"; }
nlohmann::json number(const std::optional<double>& value) { return value ? history::metric_value_to_json(*value) : nlohmann::json(); }

void line(const char* title, const std::string& value) {
  if (!value.empty()) fmt::print("{} {}\n", styled(fmt::format("{:<11}", title), Style::dim), value);
}

}  // namespace

RunDisplay::Mode RunDisplay::mode_for(bool json) {
  if (json) return Mode::json;
  return terminal_columns() > 0 ? Mode::bar : Mode::lines;
}

std::string progress_text(const RunProgress& progress) {
  if (progress.step() == 0) return std::string(history::to_string(progress.state()));
  std::string text = fmt::format("step {}", progress.step());
  if (progress.step_limit() > 0) text += fmt::format("/{}", progress.step_limit());
  text += "  loss " + value_or_dash(progress.last_loss(), text::format_value);
  if (const auto speed = progress.tokens_per_s()) text += "  " + text::format_short(*speed) + " tokens/s";
  if (const auto left = progress.seconds_left(); left && !progress.ended()) text += "  " + text::format_elapsed(*left) + " left";
  return text;
}

void RunDisplay::show_event(const wire::Event& event) {
  if (mode_ == Mode::json) {
    std::fputs(dump_line(to_json(event)).c_str(), stdout);
    std::fflush(stdout);
    return;
  }
  if (mode_ == Mode::notes) show_probe(event);
  if (event.kind != wire::Kind::log || !event.body.is_object()) return;
  const std::string level = event.body.value("level", "info");
  if (level != "warn" && level != "error") return;
  const std::string text = event.body.value("text", "");
  if (level == "error" && errors_shown_.contains(text)) return;
  if (level == "error" && errors_shown_.size() < kErrorsShownMax) errors_shown_.insert(text);
  const std::string who = event.rank < 0 ? "daemon" : fmt::format("rank {}", event.rank);
  show_note(fmt::format("{} {}: {}", who, level, text::printable_lines(text)));
}

// What a probe's worker says before each of its parts.
void RunDisplay::show_probe(const wire::Event& event) {
  if (event.kind != wire::Kind::event || !event.body.is_object() || event.body.value("name", "") != "probe.begins") return;
  const std::string method = text::printable(event.body.value("method", ""));
  if (method.empty())
    show_note("The batch on one rank, to compare with");
  else
    show_note(fmt::format("Method {} of {}: {}", event.body.value("number", 0), event.body.value("of", 0), method));
}

void RunDisplay::show_progress(const RunProgress& progress) {
  if (mode_ == Mode::json || mode_ == Mode::quiet || mode_ == Mode::notes) return;
  const auto now = Clock::now();
  if (mode_ == Mode::bar) {
    if (now - shown_at_ < kBarPeriod && !progress.ended()) return;
    shown_at_ = now;
    draw_bar(progress);
    return;
  }
  const bool new_state = progress.state() != state_shown_, new_step = progress.step() > step_shown_;
  const bool due = step_shown_ == 0 || progress.ended() || progress.step() == progress.step_limit() || now - shown_at_ >= kLinePeriod;
  if (new_state)
    fmt::print("{}{}\n", history::to_string(progress.state()), progress.reason().empty() ? "" : ": " + text::printable(progress.reason()));
  if (new_step && due) fmt::print("{}\n", progress_text(progress));
  if (new_step && due) step_shown_ = progress.step(), shown_at_ = now;
  state_shown_ = progress.state();
  std::fflush(stdout);
}

void RunDisplay::show_note(const std::string& text) {
  clear_bar();
  fmt::print(stderr, "{}\n", text);
}

void RunDisplay::clear_bar() {
  if (!bar_drawn_) return;
  std::fputs("\r\x1b[K", stdout);
  std::fflush(stdout);
  bar_drawn_ = false;
}

void RunDisplay::draw_bar(const RunProgress& progress) {
  const std::string text = progress_bar(progress.fraction(), kBarColumns) + " " + progress_text(progress);
  fmt::print("\r{}\x1b[K", fit(text, terminal_columns() - 1));
  std::fflush(stdout);
  bar_drawn_ = true;
}

nlohmann::json summary_json(const RunProgress& progress, const std::string& run, const std::string& name) {
  return {{"run", run},
          {"name", name},
          {"state", std::string(history::to_string(progress.state()))},
          {"recorded", !progress.unrecorded()},
          {"reason", progress.reason()},
          {"failed_rank", progress.failed_rank()},
          {"steps", progress.step()},
          {"step_limit", progress.step_limit()},
          {"first_loss", number(progress.first_loss())},
          {"last_loss", number(progress.last_loss())},
          {"validation_loss", number(progress.validation_loss())},
          {"tokens_per_s", number(progress.mean_tokens_per_s())},
          {"elapsed_s", progress.elapsed_s()},
          {"checkpoint", progress.checkpoint()}};
}

void RunDisplay::show_summary(const RunProgress& progress, const std::string& run, const std::string& name) {
  if (mode_ == Mode::json) {
    std::fputs(dump_line({{"summary", summary_json(progress, run, name)}}).c_str(), stdout);
    return;
  }
  clear_bar();
  if (mode_ == Mode::quiet && progress.state() == history::RunState::finished) return;
  std::string last_lines;
  for (const std::string& text : progress.last_lines())
    if (!errors_shown_.contains(text)) last_lines += fmt::format("  {}\n", text::printable_lines(text));
  if (!last_lines.empty()) fmt::print(stderr, "The last lines of rank {}:\n{}", progress.failed_rank(), last_lines);
  if (mode_ == Mode::quiet) {
    show_note(fmt::format("run {} {}: {}", run, history::to_string(progress.state()), progress.reason()));
    return;
  }
  std::puts("");
  line("run", run + "  " + styled(name, Style::bold));
  line("state", styled_state(progress.state()) + (progress.unrecorded() ? " (not recorded)" : "") +
                    (progress.reason().empty() ? "" : ": " + text::printable(progress.reason())));
  if (progress.failed_rank() >= 0) line("failed rank", std::to_string(progress.failed_rank()));
  line("steps", progress.step_limit() > 0 ? fmt::format("{} of {}", progress.step(), progress.step_limit()) : std::to_string(progress.step()));
  line("loss", value_or_dash(progress.first_loss(), text::format_value) + " -> " + value_or_dash(progress.last_loss(), text::format_value));
  if (progress.validation_loss()) line("validation", text::format_value(*progress.validation_loss()));
  line("tokens/s", value_or_dash(progress.mean_tokens_per_s(), text::format_short));
  line("elapsed", text::format_elapsed(progress.elapsed_s()));
  line("checkpoint", text::printable(progress.checkpoint()));
  fmt::print("\nSee more:\n  ringwright runs show {0}\n  ringwright runs metrics {0} --metric train/loss\n  ringwright logs {0}\n", run);
}

}  // namespace ringwright::cli

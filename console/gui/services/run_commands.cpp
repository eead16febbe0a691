#include "console/gui/services/run_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "console/gui/data/run_text.h"
#include "console/gui/services/context.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

using history::RunState;
using Runs = std::vector<std::shared_ptr<Run>>;

std::string ids_of(const Runs& runs) {
  std::string ids;
  for (const auto& run : runs) ids += (ids.empty() ? "" : " ") + run->record.id;
  return ids;
}

std::string title_of(const char* verb, const Runs& runs) {
  return runs.size() == 1 ? fmt::format("{} {}", verb, runs.front()->record.name) : fmt::format("{} {} runs", verb, runs.size());
}

// Verbs that take one run are said once for each.
std::string for_each(const Runs& runs, const std::string& before, const std::string& after = "") {
  std::string line;
  for (const auto& run : runs) line += (line.empty() ? "" : "; ") + before + " " + run->record.id + after;
  return line;
}

struct OrderCommand {
  Order order;
  const char* id;
  const char* title;
  ImGuiKeyChord chord;
  const char* keys;
  const char* verb;  // of the command line
  bool (*fits)(RunState);
  const char* why_not;
};

bool is_active(RunState state) { return !history::is_final(state); }

constexpr OrderCommand kOrders[] = {
    {Order::stop, "runs.stop", "Stop the chosen runs after their step", ImGuiMod_Ctrl | ImGuiKey_Period, "Ctrl+.", "stop", is_active,
     "the run has ended"},
    {Order::stop_after_checkpoint, "runs.stop_after_checkpoint", "Stop the chosen runs after their next checkpoint", 0, "", "stop --after-checkpoint",
     is_active, "the run has ended"},
    {Order::pause, "runs.pause", "Pause the chosen runs", 0, "", "pause", [](RunState state) { return state == RunState::running; },
     "the run is not running"},
    {Order::resume, "runs.resume", "Let the chosen runs go on after a pause", 0, "", "resume",
     [](RunState state) { return state == RunState::paused; }, "the run is not paused"},
    {Order::checkpoint, "runs.checkpoint", "Save a checkpoint of the chosen runs", 0, "", "checkpoint",
     [](RunState state) { return state == RunState::running || state == RunState::paused; }, "the run is not running"}};

Runs fitting(const Context& context, bool (*fits)(RunState)) {
  Runs runs = context.targets();
  std::erase_if(runs, [&](const auto& run) { return !fits(run->record.state); });
  return runs;
}

std::optional<std::string> refusal(const Context& context, bool (*fits)(RunState), const char* why_not) {
  if (std::string reason = context.why_no_orders(); !reason.empty()) return reason;
  const Runs runs = context.targets();
  if (runs.empty()) return "no run is selected";
  if (fitting(context, fits).empty()) return runs.size() == 1 ? why_not : "of none of the chosen runs this can be asked";
  return std::nullopt;
}

void give(Context& context, const Runs& runs, Order order) {
  for (const auto& run : runs) context.source.order(run->record.id, order);
}

// What is lost with a run that ends at once.
std::string loss_line(const Run& run) {
  const int64_t saved = run.parts.checkpoints.empty() ? 0 : run.parts.checkpoints.back().step;
  const int64_t lost = std::max<int64_t>(0, run.record.last_step - saved);
  const std::string since = saved > 0 ? fmt::format("since the checkpoint of step {}", text::format_count(saved)) : "and it has no checkpoint";
  return fmt::format("{} ({}): {} steps are lost, {}", run.record.name, run.record.id, text::format_count(lost), since);
}

void ask_to_kill(Context& context, const Runs& runs) {
  Confirmation question{title_of("Kill", runs) + "?", {}, for_each(runs, "ringwright stop --now"), "Kill now", 0, nullptr};
  for (const auto& run : runs) question.losses.push_back(loss_line(*run));
  question.act = [runs](Context& target) { give(target, runs, Order::kill); };
  context.confirmation = std::move(question);
}

// One run is stopped at once, several only when it is sure.
void stop_runs(Context& context, const Runs& runs) {
  if (runs.size() == 1) return give(context, runs, Order::stop);
  Confirmation question{title_of("Stop", runs) + "?", {}, for_each(runs, "ringwright stop"), "Stop them", 0, nullptr};
  for (const auto& run : runs) question.losses.push_back(fmt::format("{} ({}), at step {}", run->record.name, run->record.id, run->record.last_step));
  question.act = [runs](Context& target) { give(target, runs, Order::stop); };
  context.confirmation = std::move(question);
}

void add_orders(CommandRegistry& registry) {
  for (const OrderCommand& entry : kOrders) {
    registry.add({entry.id, entry.title, "Runs", entry.chord, entry.keys,
                  [&entry](const Context& context) { return refusal(context, entry.fits, entry.why_not); },
                  [&entry](const Context& context) { return for_each(fitting(context, entry.fits), std::string("ringwright ") + entry.verb); },
                  [&entry](Context& context) {
                    const Runs runs = fitting(context, entry.fits);
                    entry.order == Order::stop ? stop_runs(context, runs) : give(context, runs, entry.order);
                  }});
  }
  registry.add({"runs.kill", "Kill the chosen runs at once", "Runs", 0, "",
                [](const Context& context) { return refusal(context, is_active, "the run has ended"); },
                [](const Context& context) { return for_each(fitting(context, is_active), "ringwright stop --now"); },
                [](Context& context) { ask_to_kill(context, fitting(context, is_active)); }});
}

std::optional<std::string> no_edits(const Context& context) {
  if (std::string reason = context.why_no_edits(); !reason.empty()) return reason;
  if (context.targets().empty()) return "no run is selected";
  return std::nullopt;
}

Edit edit_of(Edit::What what, const Runs& runs, std::string content = "") {
  Edit edit{what, {}, std::move(content), {}};
  for (const auto& run : runs) edit.runs.push_back(run->record.id);
  return edit;
}

std::vector<std::string> known_tags(const Context& context) {
  std::set<std::string> tags;
  for (const auto& run : context.state.runs()) tags.insert(run->record.tags.begin(), run->record.tags.end());
  return {tags.begin(), tags.end()};
}

void ask_for_tag(Context& context, bool remove) {
  const Runs runs = context.targets();
  std::vector<std::string> suggestions = known_tags(context);
  if (remove) suggestions = runs.front()->record.tags;
  context.prompt = Prompt{title_of(remove ? "Take a tag off" : "Tag", runs), "a word", std::move(suggestions),
                          [runs, remove](const std::string& tag) {
                            return for_each(runs, "ringwright runs tag", " " + text::shell_word(tag) + (remove ? " --remove" : ""));
                          },
                          [runs, remove](Context& target, const std::string& tag) {
                            target.source.edit(edit_of(remove ? Edit::What::remove_tag : Edit::What::add_tag, runs, tag));
                          }};
}

void ask_for_note(Context& context) {
  const Runs runs = context.targets();
  context.prompt =
      Prompt{title_of("Note on", runs),
             "what to remember",
             {},
             [runs](const std::string& note) { return for_each(runs, "ringwright runs note", " " + text::shell_word(text::one_line(note))); },
             [runs](Context& target, const std::string& note) { target.source.edit(edit_of(Edit::What::add_note, runs, note)); }};
}

void ask_to_delete(Context& context) {
  Runs runs = context.targets();
  std::erase_if(runs, [](const auto& run) { return !history::is_final(run->record.state); });
  Confirmation question{title_of("Delete", runs) + "?",
                        {},
                        "ringwright runs delete --yes " + ids_of(runs),
                        "Delete",
                        runs.size() > 1 ? static_cast<int>(runs.size()) : 0,
                        nullptr};
  for (const auto& run : runs)
    question.losses.push_back(fmt::format("{} ({}): its metrics, logs and notes over {} steps", run->record.name, run->record.id,
                                          text::format_count(std::max<int64_t>(0, run->record.last_step))));
  question.losses.emplace_back("Folders of runs stay where they are. This cannot be undone.");
  question.act = [runs](Context& target) {
    target.selection.chosen.clear();
    target.source.edit(edit_of(Edit::What::remove, runs));
  };
  context.confirmation = std::move(question);
}

std::optional<std::string> nothing_to_delete(const Context& context) {
  if (auto reason = no_edits(context)) return reason;
  const Runs runs = context.targets();
  if (std::none_of(runs.begin(), runs.end(), [](const auto& run) { return history::is_final(run->record.state); })) return "the run has not ended";
  return std::nullopt;
}

void add_edits(CommandRegistry& registry) {
  const auto line = [](const char* verb) {
    return [verb](const Context& context) { return fmt::format("ringwright runs {} {}", verb, ids_of(context.targets())); };
  };
  const auto each = [](const char* verb) {
    return [verb](const Context& context) { return for_each(context.targets(), std::string("ringwright runs ") + verb); };
  };
  registry.add({"runs.tag", "Put a tag on the chosen runs", "Runs", ImGuiKey_T, "T", no_edits, each("tag"),
                [](Context& context) { ask_for_tag(context, false); }});
  registry.add({"runs.untag", "Take a tag off the chosen runs", "Runs", 0, "", no_edits, each("tag --remove"),
                [](Context& context) { ask_for_tag(context, true); }});
  registry.add({"runs.note", "Write a note on the chosen runs", "Runs", ImGuiKey_E, "E", no_edits, each("note"), ask_for_note});
  registry.add({"runs.archive", "Archive the chosen runs", "Runs", 0, "", no_edits, line("archive"),
                [](Context& context) { context.source.edit(edit_of(Edit::What::archive, context.targets())); }});
  registry.add({"runs.restore", "Bring the chosen runs back from the archive", "Runs", 0, "", no_edits, line("archive --undo"),
                [](Context& context) { context.source.edit(edit_of(Edit::What::restore, context.targets())); }});
  registry.add({"runs.delete", "Delete the chosen runs from the history", "Runs", 0, "", nothing_to_delete, line("delete --yes"), ask_to_delete});
}

// On all chosen runs: shown when one of them is not.
void mark(Context& context) {
  Selection& selection = context.selection;
  selection.chosen_by_user = true;
  const Runs runs = context.targets();
  const bool hide = std::all_of(runs.begin(), runs.end(), [&](const auto& run) { return selection.shown.contains(run->record.id); });
  for (const auto& run : runs) {
    if (hide) {
      selection.shown.erase(run->record.id);
    } else if (static_cast<int>(selection.shown.size()) < kShownRunsMax) {
      selection.shown.insert(run->record.id);
      context.want_details(run->record.id);
    } else if (!selection.shown.contains(run->record.id)) {
      context.notify(Notice::Level::warning, fmt::format("{} runs are shown at most", kShownRunsMax), "Click a swatch to hide a run");
      return;
    }
  }
}

}  // namespace

void add_run_commands(CommandRegistry& registry) {
  const auto no_run = [](const Context& context) {
    return context.targets().empty() ? std::optional<std::string>("no run is selected") : std::nullopt;
  };
  registry.add({"runs.mark", "Show the chosen runs in plots, or hide them", "Runs", ImGuiKey_X, "X", no_run, nullptr, mark});
  registry.add({"runs.compare", "Compare the runs that are shown in plots", "Runs", ImGuiKey_C, "C",
                [](const Context& context) {
                  return context.compared_runs().size() < 2 ? std::optional<std::string>("mark two runs first: X on each") : std::nullopt;
                },
                [](const Context& context) {
                  const auto runs = context.compared_runs();
                  return runs.size() < 2 ? "" : fmt::format("ringwright runs compare {} {}", runs[0], runs[1]);
                },
                [](Context& context) { context.requested_workspace = "compare"; }});
  registry.add({"runs.copy_id", "Copy the ids of the chosen runs", "Runs", 0, "", no_run, nullptr,
                [](Context& context) { ImGui::SetClipboardText(ids_of(context.targets()).c_str()); }});
  registry.add({"runs.choose_none", "Forget which runs are chosen", "Runs", 0, "", nullptr, nullptr,
                [](Context& context) { context.selection.chosen.clear(); }});
  add_orders(registry);
  add_edits(registry);
}

}  // namespace ringwright::gui

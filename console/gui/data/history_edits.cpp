#include "console/gui/data/history_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "console/gui/data/guarded.h"
#include "shared/history/edits.h"
#include "shared/history/store.h"
#include "shared/wire/requester.h"

namespace ringwright::gui {
namespace {

// One run's part of an edit. False when the run was so already: then there is nothing to undo. What else that takes is added to `undo`.
bool edit_run(history::Editor& editor, const Edit& edit, size_t index, Edit& undo) {
  const std::string& run = edit.runs[index];
  switch (edit.what) {
    case Edit::What::add_tag:
      return editor.add_tag(run, edit.text);
    case Edit::What::remove_tag:
      return editor.remove_tag(run, edit.text);
    case Edit::What::add_note:
      undo.notes.push_back(editor.add_note(run, wire::requester("console"), edit.text));
      break;
    case Edit::What::remove_note:
      editor.remove_note(run, edit.notes.at(index));
      break;
    case Edit::What::archive:
      return editor.set_archived(run, true);
    case Edit::What::restore:
      return editor.set_archived(run, false);
    case Edit::What::remove:
      editor.delete_run(run);
      break;
  }
  return true;
}

std::optional<Edit::What> opposite(Edit::What what) {
  switch (what) {
    case Edit::What::add_tag:
      return Edit::What::remove_tag;
    case Edit::What::remove_tag:
      return Edit::What::add_tag;
    case Edit::What::add_note:
      return Edit::What::remove_note;
    case Edit::What::archive:
      return Edit::What::restore;
    case Edit::What::restore:
      return Edit::What::archive;
    case Edit::What::remove_note:
    case Edit::What::remove:
      break;
  }
  return std::nullopt;
}

std::string done_text(const Edit& edit, size_t count, const std::string& name) {
  const std::string runs = count == 1 ? name : fmt::format("{} runs", count);
  switch (edit.what) {
    case Edit::What::add_tag:
      return fmt::format("{}: tagged {}", runs, edit.text);
    case Edit::What::remove_tag:
      return fmt::format("{}: tag {} taken off", runs, edit.text);
    case Edit::What::add_note:
      return fmt::format("{}: note written", runs);
    case Edit::What::remove_note:
      return fmt::format("{}: note removed", runs);
    case Edit::What::archive:
      return fmt::format("{}: archived; the query archived = true finds it", runs);
    case Edit::What::restore:
      return fmt::format("{}: back from the archive", runs);
    case Edit::What::remove:
      return fmt::format("{}: deleted", runs);
  }
  return runs;
}

struct EditOutcome {
  std::vector<std::string> done;  // runs that are as the edit would have them
  Edit undo;                      // of those that were not so before
};

void edit_runs(const std::filesystem::path& file, const Edit& edit, EditOutcome& outcome) {
  history::Editor editor(file);
  for (size_t i = 0; i < edit.runs.size(); ++i) {
    const bool changed = edit_run(editor, edit, i, outcome.undo);
    outcome.done.push_back(edit.runs[i]);
    if (changed) outcome.undo.runs.push_back(edit.runs[i]);
  }
}

// What the console is to show of the runs now. Returns the name of the first.
std::string tell_runs(UpdateQueue& queue, const std::filesystem::path& file, const std::vector<std::string>& runs) {
  const history::Reader reader(file);
  RunsRead changed;
  for (const std::string& run : runs) {
    changed.runs.push_back(reader.run(run));
    queue.push(NotesRead{run, reader.notes(run)});
  }
  std::string name = changed.runs.front().name;
  queue.push(std::move(changed));
  return name;
}

}  // namespace

void edit_history(UpdateQueue& queue, const std::filesystem::path& file, const Edit& edit) {
  EditOutcome outcome;
  outcome.undo = {edit.what, {}, edit.text, {}};
  std::optional<ErrorParts> failure;
  const auto fail = [&failure](const ErrorParts& parts) { failure = parts; };
  const auto& done = outcome.done;
  guarded([&] { edit_runs(file, edit, outcome); }, fail);
  const std::string failed_run = failure && done.size() < edit.runs.size() ? edit.runs[done.size()] : "";
  std::string name = done.empty() ? "" : done.front();
  if (edit.what == Edit::What::remove) {
    if (!done.empty()) queue.push(RunsGone{done});
  } else if (!done.empty()) {
    guarded([&] { name = tell_runs(queue, file, done); }, fail);
  }
  if (!done.empty()) {
    Notice notice{Notice::Level::good, done_text(edit, done.size(), name), ""};
    const auto what = opposite(edit.what);
    if (what && !outcome.undo.runs.empty()) outcome.undo.what = *what, notice.undo = outcome.undo;
    queue.push(std::move(notice));
  }
  if (failure)
    queue.push(Notice{Notice::Level::error,
                      fmt::format("{}: {} ({})", failed_run.empty() ? file.filename().string() : failed_run, failure->what, failure->code),
                      failure->action});
}

}  // namespace ringwright::gui

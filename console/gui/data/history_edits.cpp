#include "console/gui/data/history_edits.h"

#include <fmt/format.h>

#include "shared/history/edits.h"
#include "shared/history/store.h"
#include "shared/wire/requester.h"

namespace ringwright::gui {
namespace {

// One run's part of an edit. What it takes to undo it is added to `undo`.
void edit_run(history::Editor& editor, const Edit& edit, size_t index, Edit& undo) {
  const std::string& run = edit.runs[index];
  switch (edit.what) {
    case Edit::What::add_tag:
      return editor.add_tag(run, edit.text);
    case Edit::What::remove_tag:
      return editor.remove_tag(run, edit.text);
    case Edit::What::add_note:
      undo.notes.push_back(editor.add_note(run, wire::requester("console"), edit.text));
      return;
    case Edit::What::remove_note:
      return editor.remove_note(run, edit.notes.at(index));
    case Edit::What::archive:
      return editor.set_archived(run, true);
    case Edit::What::restore:
      return editor.set_archived(run, false);
    case Edit::What::remove:
      return editor.delete_run(run);
  }
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

}  // namespace

void edit_history(UpdateQueue& queue, const std::filesystem::path& file, const Edit& edit) {
  Edit undo = edit;
  undo.notes.clear();
  std::vector<std::string> done;
  std::optional<ErrorParts> failure;
  try {
    history::Editor editor(file);
    for (size_t i = 0; i < edit.runs.size(); ++i) {
      edit_run(editor, edit, i, undo);
      done.push_back(edit.runs[i]);
    }
  } catch (const Error& error) {
    failure = error.parts();
  }
  std::string name = done.empty() ? "" : done.front();
  if (edit.what == Edit::What::remove) {
    if (!done.empty()) queue.push(RunsGone{done});
  } else if (!done.empty()) {
    const history::Reader reader(file);
    RunsRead changed;
    for (const std::string& run : done) {
      changed.runs.push_back(reader.run(run));
      queue.push(NotesRead{run, reader.notes(run)});
    }
    name = changed.runs.front().name;
    queue.push(std::move(changed));
  }
  if (!done.empty()) {
    Notice notice{Notice::Level::good, done_text(edit, done.size(), name), ""};
    undo.runs = done;
    if (const auto what = opposite(edit.what)) undo.what = *what, notice.undo = undo;
    queue.push(std::move(notice));
  }
  if (failure)
    queue.push(Notice{Notice::Level::error, fmt::format("{}: {} ({})", edit.runs[done.size()], failure->what, failure->code), failure->action});
}

}  // namespace ringwright::gui

#include "console/gui/recipe/workbench.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "shared/base/files.h"
#include "shared/base/program_call.h"
#include "shared/base/text.h"
#include "shared/recipe/loader.h"
#include "shared/recipe/reader.h"
#include "shared/support_matrix/recipe_fix.h"

namespace ringwright::gui {
namespace {

namespace fs = std::filesystem;
using Outcome = BackgroundTasks::Outcome;

constexpr std::chrono::seconds kLaunchLimit{30};

int64_t now_ms() { return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Throws Error RW-GUI-021 for what an editor of text cannot show.
std::string read_recipe_text(const fs::path& file) {
  const auto refuse = [&](const std::string& what, const std::string& expected) {
    throw Error({"RW-GUI-021", what, file.string(), expected, "open another file"});
  };
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty()) refuse("that is " + kind, "a recipe in YAML");
  std::error_code failed;
  if (fs::file_size(file, failed) > kRecipeBytesMax && !failed) refuse("the file is too large", "at most 4 MiB");
  std::string text = recipe::read_text(file);
  if (text::valid_utf8(text) != text || text.find('\0') != std::string::npos) refuse("the file is no text in UTF-8", "a recipe in YAML");
  return text;
}

std::string first_lines(const std::string& text, int count) {
  size_t end = 0;
  while (count-- > 0 && end < text.size()) end = std::min(text.find('\n', end), text.size() - 1) + 1;
  while (end > 0 && text[end - 1] == '\n') --end;
  return text.substr(0, end);
}

std::string run_of(const std::string& output) {
  const nlohmann::json json = nlohmann::json::parse(output, nullptr, false);
  return json.is_object() ? json.value("run", "") : "";
}

}  // namespace

void RecipeWorkbench::say(Notice::Level level, std::string text, std::string action) {
  notices_.push_back({level, std::move(text), std::move(action)});
}

void RecipeWorkbench::say(const ErrorParts& error) { notices_.push_back(notice_of(error)); }

void RecipeWorkbench::keep_journal(const fs::path& folder) {
  journal_ = std::make_unique<RecipeJournal>(folder);
  std::optional<RecipeDocument> found = journal_->recover();
  if (!journal_->notice().empty()) say(Notice::Level::warning, journal_->notice());
  if (!found) return;
  const std::string name = found->file().filename().string();
  replace_document(std::move(*found));
  say(Notice::Level::info, "Unsaved edits of " + name + " are back", "Ctrl+Z undoes them, Ctrl+S saves them");
}

void RecipeWorkbench::replace_document(RecipeDocument document) {
  document_ = std::move(document);
  first_version_ = document_.version();
  checked_.reset();
  loaded_.reset();
  guards_ = {};
  model_folder_.clear();
  jump_ = Jump{};
  if (journal_) journal_->follow(document_);
}

void RecipeWorkbench::run(BackgroundTasks::Work work) {
  tasks_.run(std::move(work), [this](const ErrorParts& parts) { say(parts); });
}

void RecipeWorkbench::open(const fs::path& file) {
  run([this, file]() -> Outcome {
    const fs::path whole = fs::absolute(file).lexically_normal();
    return [this, whole, text = read_recipe_text(whole)] {
      if (journal_) journal_->clear();
      replace_document(RecipeDocument(whole, text));
    };
  });
}

bool RecipeWorkbench::is_still(const fs::path& file, std::string_view what) {
  if (document_.file() == file) return true;
  say(Notice::Level::warning, std::string(what) + " of " + file.filename().string() + " was left out: another recipe is open");
  return false;
}

void RecipeWorkbench::reload() {
  run([this, file = document_.file()]() -> Outcome {
    return [this, file, text = read_recipe_text(file)] {
      if (!is_still(file, "Reading")) return;
      change_text(text, EditOrigin::paste);
      document_.mark_saved();
    };
  });
}

void RecipeWorkbench::save(std::function<void()> then) {
  if (!is_open()) return;
  const recipe::EditedRecipe edited{document_.file(), document_.saved_text(), document_.text(), true};
  run([this, edited, then = std::move(then)]() -> Outcome {
    recipe::save(edited);
    return [this, edited, then] {
      say(Notice::Level::good, "Saved " + edited.file.filename().string());
      if (document_.file() != edited.file) return;  // what was to follow was meant for that recipe
      document_.mark_saved(edited.after);
      if (then) then();
    };
  });
}

const std::vector<OutlineLine>& RecipeWorkbench::outline() {
  if (outline_version_ != document_.version() || outline_.empty()) {
    outline_ = gui::outline(document_.text());
    outline_version_ = document_.version();
  }
  return outline_;
}

void RecipeWorkbench::change_text(const std::string& after, EditOrigin origin) { document_.change_to(after, origin, now_ms()); }

void RecipeWorkbench::edit_keys(std::vector<recipe::TextEdit> edits, EditOrigin origin) {
  if (!is_open() || edits.empty()) return;
  run([this, edits = std::move(edits), origin, file = document_.file(), text = document_.text(), version = document_.version()]() -> Outcome {
    return [this, after = recipe::edit_recipe_text(file, text, edits), edits, origin, file, version] {
      if (!is_still(file, "The edit")) return;
      if (document_.version() == version) {
        change_text(after, origin);
      } else {
        edit_keys(edits, origin);  // the text was changed meanwhile: the edit is made in the new one
      }
    };
  });
}

void RecipeWorkbench::set_key(const std::string& key, const std::string& value, EditOrigin origin) {
  try {
    edit_keys({recipe::parse_set("++" + key + "=" + value)}, origin);
  } catch (const Error& error) {
    say(error.parts());
  }
}

void RecipeWorkbench::apply_fix(const GuardRow& row) {
  if (!loaded_ || row.changes.empty()) return;
  try {
    std::vector<recipe::TextEdit> edits;
    for (const support_matrix::Change& change : row.changes) edits.push_back(support_matrix::as_edit(change, *loaded_->recipe));
    edit_keys(std::move(edits), EditOrigin::fix);
  } catch (const Error& error) {
    say(error.parts());
  }
}

void RecipeWorkbench::fix_all() {
  if (!is_open()) return;
  run([this, file = document_.file(), text = document_.text(), version = document_.version(), target = target_,
       options = check_options(model_folder_)]() mutable -> Outcome {
    recipe::ParentCache parents;
    const support_matrix::RecipeFix fix = support_matrix::fix_recipe(file, text, {}, {target}, options, parents);
    const std::string after = recipe::edit_recipe_text(file, text, fix.edits);
    return [this, file, after, version, made = fix.made.size(), left = fix.left.size()] {
      if (!is_still(file, "The fix")) return;
      if (document_.version() != version) {
        fix_all();
        return;
      }
      change_text(after, EditOrigin::fix);
      const std::string rest = left > 0 ? std::to_string(left) + " change what is trained: look at each" : "";
      say(Notice::Level::info, made == 0 ? "No fix can be made without asking" : std::to_string(made) + " changes made; Ctrl+Z undoes them", rest);
    };
  });
}

bool RecipeWorkbench::undo() { return document_.undo(); }
bool RecipeWorkbench::redo() { return document_.redo(); }

void RecipeWorkbench::choose_model_folder(fs::path folder) { model_folder_ = std::move(folder); }

void RecipeWorkbench::jump_to_key(const std::string& key, bool focus) {
  // The key itself, else the nearest section of it that this text writes.
  for (std::string part = key; !part.empty();) {
    const size_t line = line_of(outline(), part);
    if (line != std::string::npos) {
      jump_ = Jump{outline_[line].key_begin, focus};
      return;
    }
    const size_t dot = part.rfind('.');
    part = dot == std::string::npos ? "" : part.substr(0, dot);
  }
}

void RecipeWorkbench::jump_to(const GuardRow& row, bool focus) {
  jump_to_key(row.key, focus);
  if (!row.own_line || row.origin.line < 1 || static_cast<size_t>(row.origin.line) > outline().size()) return;
  const OutlineLine& line = outline_[static_cast<size_t>(row.origin.line) - 1];
  jump_ = Jump{line.key_begin < line.key_end ? line.key_begin : line.begin, focus};
}

void RecipeWorkbench::launch() {
  launching_ = true;
  const auto work = [this, file = document_.file().string()]() -> Outcome {
    const ProgramOutcome outcome = call_program({{beside_this_program("ringwright"), "run", file, "--detach", "--json"}, kLaunchLimit});
    return [this, outcome] {
      launching_ = false;
      const std::string run = outcome.exit_code == 0 ? run_of(outcome.out) : "";
      if (run.empty()) {
        const std::string why = !outcome.failure.empty() ? outcome.failure : outcome.err.empty() ? outcome.out : outcome.err;
        say(Notice::Level::error, "The run did not start: " + first_lines(why, 4));
      } else {
        say(Notice::Level::good, "Started " + run);
        started_run_ = run;
      }
    };
  };
  tasks_.run(work, [this](const ErrorParts& parts) {
    launching_ = false;
    say(parts);
  });
}

void RecipeWorkbench::ask() {
  if (!is_open()) return;
  const bool known = asked_version_ == document_.version() && asked_model_folder_ == model_folder_ && asked_saved_text_ == document_.saved_text();
  if (known) return;
  asked_version_ = document_.version();
  asked_model_folder_ = model_folder_;
  asked_saved_text_ = document_.saved_text();
  checker_.ask({document_.version(), document_.file(), document_.text(), document_.saved_text(), model_folder_});
}

// While the text does not load, the guards of the last one that did are shown.
void RecipeWorkbench::rebuild_guards() {
  const auto& shown = checked_ && !checked_->recipe && loaded_ ? loaded_ : checked_;
  for (size_t target = 0; target < guards_.size(); ++target)
    guards_[target] = shown ? guard_list(*shown, static_cast<support_matrix::Target>(target)) : GuardList{};
}

void RecipeWorkbench::poll() {
  tasks_.take_outcomes();
  ask();
  std::shared_ptr<const CheckedRecipe> answer = checker_.answer();
  if (!answer || answer == checked_ || answer->version < first_version_) return;  // before: of another document
  checked_ = std::move(answer);
  if (checked_->recipe) loaded_ = checked_;
  rebuild_guards();
}

bool RecipeWorkbench::is_idle() const {
  return tasks_.is_idle() && !checker_.is_checking() && (!is_open() || (checked_ && checked_->version == document_.version()));
}

}  // namespace ringwright::gui

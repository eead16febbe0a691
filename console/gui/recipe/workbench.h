// The recipe that the Prepare workspace is about: the document, what is known of it, and the target and the model folder that all its views go by.
// Owned by the draw thread; files, checks and programs are worked on elsewhere, and what comes of them is taken in by poll().
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console/gui/data/state.h"
#include "console/gui/recipe/background_tasks.h"
#include "console/gui/recipe/checked_recipe.h"
#include "console/gui/recipe/guard_rows.h"
#include "console/gui/recipe/outline.h"
#include "console/gui/recipe/recipe_document.h"
#include "console/gui/recipe/recipe_journal.h"
#include "shared/recipe/text_edit.h"

namespace ringwright::gui {

inline constexpr size_t kRecipeBytesMax = size_t{4} << 20;

// Where the editor is to put its caret.
struct Jump {
  size_t offset = 0;
  bool focus = false;  // the keyboard goes there too
};

class RecipeWorkbench {
 public:
  // Keeps edits in `folder`, and brings back those that an earlier console left unsaved.
  void keep_journal(const std::filesystem::path& folder);

  // Reads the file and shows it; unsaved edits of the one before are lost (ask first). Faults come as notices.
  void open(const std::filesystem::path& file);
  bool is_open() const { return !document_.file().empty(); }
  // Writes the text to its file, then runs `then`; a fault comes as a notice.
  void save(std::function<void()> then = {});
  // Takes the text of the file again, as one step that can be undone.
  void reload();

  const RecipeDocument& document() const { return document_; }
  const std::vector<OutlineLine>& outline();
  // Texts and keys. An edit of keys is made in the text off the draw thread; it is dropped with a notice where the text cannot be changed so.
  void change_text(const std::string& after, EditOrigin origin);
  void edit_keys(std::vector<recipe::TextEdit> edits, EditOrigin origin);
  void set_key(const std::string& key, const std::string& value, EditOrigin origin);
  void apply_fix(const GuardRow& row);
  void fix_all();  // the safe ones of the chosen target
  bool undo();
  bool redo();

  // The newest answer of the checker (null before the first), the newest whose text loaded, and whether one is on its way.
  const std::shared_ptr<const CheckedRecipe>& checked() const { return checked_; }
  const std::shared_ptr<const CheckedRecipe>& loaded() const { return loaded_; }
  bool is_checking() const { return checker_.is_checking(); }
  // Of the newest answer, or of the newest whose text loaded where that one does not load: for the chosen target, and for another.
  const GuardList& guards() const { return guards(target_); }
  const GuardList& guards(support_matrix::Target target) const { return guards_[static_cast<size_t>(target)]; }

  support_matrix::Target target() const { return target_; }
  void choose_target(support_matrix::Target target) { target_ = target; }
  const std::filesystem::path& model_folder() const { return model_folder_; }
  void choose_model_folder(std::filesystem::path folder);

  // Moves the editor's caret to where the key, or the nearest section of it, is written.
  void jump_to(const GuardRow& row, bool focus = false);
  void jump_to_key(const std::string& key, bool focus = false);
  std::optional<Jump> take_jump() { return std::exchange(jump_, std::nullopt); }

  bool editor_has_keys = false;  // the text field that has the keyboard is the recipe's editor

  // Starts a run of the file as it is, with the command line's program. Its id comes through take_started_run().
  void launch();
  bool is_launching() const { return launching_; }
  std::optional<std::string> take_started_run() { return std::exchange(started_run_, std::nullopt); }

  // Takes in what came from other threads; once a frame.
  void poll();
  // Nothing is under way.
  bool is_idle() const;
  std::vector<Notice> take_notices() { return std::exchange(notices_, {}); }
  BackgroundTasks& tasks() { return tasks_; }

 private:
  void run(BackgroundTasks::Work work);  // a fault comes as a notice
  void replace_document(RecipeDocument document);
  // Whether what was worked on elsewhere is about the document that is shown; where not, a notice says that `what` was left out.
  bool is_still(const std::filesystem::path& file, std::string_view what);
  void ask();
  void say(Notice::Level level, std::string text, std::string action = "");
  void say(const ErrorParts& error);
  void rebuild_guards();

  RecipeDocument document_;
  std::unique_ptr<RecipeJournal> journal_;
  std::vector<OutlineLine> outline_;
  uint64_t first_version_ = 0, outline_version_ = 0, asked_version_ = 0;
  std::filesystem::path model_folder_, asked_model_folder_;
  std::string asked_saved_text_;
  std::shared_ptr<const CheckedRecipe> checked_, loaded_;
  std::array<GuardList, support_matrix::kTargetNames.size()> guards_;  // in the order of Target
  support_matrix::Target target_ = support_matrix::Target::ringwright;
  std::optional<Jump> jump_;
  std::optional<std::string> started_run_;
  std::vector<Notice> notices_;
  bool launching_ = false;
  RecipeChecker checker_;
  BackgroundTasks tasks_;
};

}  // namespace ringwright::gui

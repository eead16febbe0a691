// A recipe that is being edited: its text, what was changed step by step, and what stands in the file. Whoever changes it (the editor, the form, the
// mesh, a guard's fix) makes the same entries, so one undo covers them all. Owned by the draw thread; reads and writes no file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::gui {

enum class EditOrigin { typing, paste, form, mesh, fix };
inline constexpr std::array<std::string_view, 5> kEditOriginNames = {"typing", "paste", "form", "mesh", "fix"};

inline constexpr size_t kUndoStepsMax = 1000;
inline constexpr int64_t kTypingMergeMs = 800;

// The bytes [at, at + removed) became `inserted`.
struct TextChange {
  size_t at = 0;
  std::string removed, inserted;
};
// What turns one text into the other: what is between their equal beginning and end, at character boundaries.
TextChange difference(std::string_view before, std::string_view after);

struct DocumentEdit {
  std::string key;            // dotted; "" where the change belongs to no key
  std::string before, after;  // the key's value as the text writes it, in one line
  EditOrigin origin = EditOrigin::typing;
  TextChange change;
  int64_t time_ms = 0;  // of its last change
};

// What happened to a document, in a form that can be kept and done again.
struct DocumentOperation {
  enum class What { change, undo, redo, saved } what = What::change;
  TextChange change;
  EditOrigin origin = EditOrigin::typing;
  int64_t time_ms = 0;
  std::string saved_text;  // of `saved`
};

class RecipeDocument {
 public:
  RecipeDocument() = default;
  // `text` is what the file holds.
  RecipeDocument(std::filesystem::path file, std::string text);

  const std::filesystem::path& file() const { return file_; }
  const std::string& text() const { return text_; }
  const std::string& saved_text() const { return saved_; }
  bool is_dirty() const { return text_ != saved_; }
  // Another number for another text, as far as this program has seen.
  uint64_t version() const { return version_; }

  // Makes the text `after`. Typing goes into the step before when it is typing too, of the same key, and at most kTypingMergeMs old. False when
  // nothing changed.
  bool change_to(std::string_view after, EditOrigin origin, int64_t now_ms);
  bool undo();
  bool redo();
  void mark_saved() { mark_saved(text_); }
  // The file holds this text, which may be an earlier one.
  void mark_saved(const std::string& text);

  // The steps; those from position() on are undone.
  const std::vector<DocumentEdit>& steps() const { return steps_; }
  size_t position() const { return position_; }

  // Does again what was done to another document with the same text. False, and nothing is done, when it does not fit.
  bool repeat(const DocumentOperation& operation);
  // Called with each operation behind it.
  void on_operation(std::function<void(const DocumentOperation&)> listener) { listener_ = std::move(listener); }

 private:
  bool splice(size_t at, const std::string& removed, const std::string& inserted);
  bool merge(const TextChange& change, EditOrigin origin, int64_t now_ms, const std::string& key);
  void report(const DocumentOperation& operation) const;

  std::filesystem::path file_;
  std::string text_, saved_;
  uint64_t version_ = 0;
  std::vector<DocumentEdit> steps_;
  size_t position_ = 0;
  std::function<void(const DocumentOperation&)> listener_;
};

}  // namespace ringwright::gui

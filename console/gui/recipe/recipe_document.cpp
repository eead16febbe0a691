#include "console/gui/recipe/recipe_document.h"

#include <algorithm>
#include <atomic>

#include "console/gui/recipe/outline.h"

namespace ringwright::gui {
namespace {

constexpr size_t kValueBytesMax = 120;  // of a value that a step shows

// Texts of all documents count together, so that a version names one text of one document.
uint64_t next_version() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::string written_value(std::string_view text, const std::vector<OutlineLine>& lines, const std::string& key) {
  const size_t line = line_of(lines, key);
  if (line == std::string_view::npos) return "";
  std::string value(value_of(text, lines[line]));
  if (value.size() <= kValueBytesMax) return value;
  size_t end = kValueBytesMax;
  while (end > 0 && is_continuation(value[end])) --end;
  return value.substr(0, end) + "...";
}

}  // namespace

TextChange difference(std::string_view before, std::string_view after) {
  const size_t shorter = std::min(before.size(), after.size());
  size_t start = 0, tail = 0;
  while (start < shorter && before[start] == after[start]) ++start;
  const auto splits = [](std::string_view text, size_t at) { return at < text.size() && is_continuation(text[at]); };
  while (start > 0 && (splits(before, start) || splits(after, start))) --start;
  while (tail < shorter - start && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  while (tail > 0 && (splits(before, before.size() - tail) || splits(after, after.size() - tail))) --tail;
  return {start, std::string(before.substr(start, before.size() - tail - start)), std::string(after.substr(start, after.size() - tail - start))};
}

RecipeDocument::RecipeDocument(std::filesystem::path file, std::string text)
    : file_(std::move(file)), text_(std::move(text)), saved_(text_), version_(next_version()) {}

void RecipeDocument::report(const DocumentOperation& operation) const {
  if (listener_) listener_(operation);
}

bool RecipeDocument::splice(size_t at, const std::string& removed, const std::string& inserted) {
  if (at > text_.size() || text_.compare(at, removed.size(), removed) != 0) return false;
  text_.replace(at, removed.size(), inserted);
  version_ = next_version();
  return true;
}

// Typing that goes on where the last step ended: one entry.
bool RecipeDocument::merge(const TextChange& change, EditOrigin origin, int64_t now_ms, const std::string& key) {
  if (origin != EditOrigin::typing || position_ == 0 || position_ != steps_.size()) return false;
  DocumentEdit& last = steps_.back();
  if (last.origin != origin || last.key != key || now_ms - last.time_ms > kTypingMergeMs) return false;
  const size_t last_end = last.change.at + last.change.inserted.size();
  const size_t removed_end = change.at + change.removed.size();
  if (change.at >= last.change.at && removed_end <= last_end) {  // inside of what was typed, or behind it
    last.change.inserted.replace(change.at - last.change.at, change.removed.size(), change.inserted);
  } else if (removed_end == last.change.at && change.inserted.empty()) {  // backspace beyond its beginning
    last.change.removed = change.removed + last.change.removed;
    last.change.at = change.at;
  } else {
    return false;
  }
  last.time_ms = now_ms;
  return true;
}

bool RecipeDocument::change_to(std::string_view after, EditOrigin origin, int64_t now_ms) {
  TextChange change = difference(text_, after);
  if (change.removed.empty() && change.inserted.empty()) return false;
  const std::string text_before = text_;
  if (!splice(change.at, change.removed, change.inserted)) return false;
  const std::vector<OutlineLine> lines_after = outline(text_);
  const std::string key = key_at(lines_after, change.at + change.inserted.size());
  if (!merge(change, origin, now_ms, key)) {
    steps_.resize(position_);
    steps_.push_back({key, written_value(text_before, outline(text_before), key), "", origin, change, now_ms});
    if (steps_.size() > kUndoStepsMax) steps_.erase(steps_.begin());
    position_ = steps_.size();
  }
  steps_.back().after = written_value(text_, lines_after, key);
  report({DocumentOperation::What::change, std::move(change), origin, now_ms, ""});
  return true;
}

bool RecipeDocument::undo() {
  if (position_ == 0) return false;
  const TextChange& change = steps_[position_ - 1].change;
  if (!splice(change.at, change.inserted, change.removed)) return false;
  --position_;
  report({DocumentOperation::What::undo, {}, {}, 0, ""});
  return true;
}

bool RecipeDocument::redo() {
  if (position_ == steps_.size()) return false;
  const TextChange& change = steps_[position_].change;
  if (!splice(change.at, change.removed, change.inserted)) return false;
  ++position_;
  report({DocumentOperation::What::redo, {}, {}, 0, ""});
  return true;
}

void RecipeDocument::mark_saved(const std::string& text) {
  saved_ = text;
  report({DocumentOperation::What::saved, {}, {}, 0, saved_});
}

bool RecipeDocument::repeat(const DocumentOperation& operation) {
  switch (operation.what) {
    case DocumentOperation::What::undo:
      return undo();
    case DocumentOperation::What::redo:
      return redo();
    case DocumentOperation::What::saved:
      return mark_saved(operation.saved_text), true;
    case DocumentOperation::What::change:
      break;
  }
  const TextChange& change = operation.change;
  if (change.at > text_.size() || text_.compare(change.at, change.removed.size(), change.removed) != 0) return false;
  std::string after = text_;
  after.replace(change.at, change.removed.size(), change.inserted);
  return change_to(after, operation.origin, operation.time_ms);
}

}  // namespace ringwright::gui

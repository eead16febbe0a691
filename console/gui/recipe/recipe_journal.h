// The edits of a recipe on disk, line by line as they are made, so that a crash loses none: the text that the file had, and every operation since.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "console/gui/recipe/recipe_document.h"

namespace ringwright::gui {

inline constexpr size_t kJournalBytesMax = size_t{16} << 20;

class RecipeJournal {
 public:
  // The first of <folder>/recipe-journal-<n>.jsonl that no other console has open is taken. Where none can be written, edits are not kept, and
  // notice() says why.
  explicit RecipeJournal(const std::filesystem::path& folder);
  ~RecipeJournal();
  RecipeJournal(const RecipeJournal&) = delete;
  RecipeJournal& operator=(const RecipeJournal&) = delete;

  // What an earlier console left unsaved; nullopt when there is nothing. A last line that was cut off is left out; a journal that cannot be read is
  // renamed to <name>.damaged, with a notice.
  std::optional<RecipeDocument> recover();
  // From now on this document's operations are kept, from its next one on. The document must not move, and make none behind this object's end.
  void follow(RecipeDocument& document);
  // Nothing is left to recover.
  void clear();

  const std::filesystem::path& file() const { return file_; }
  const std::string& notice() const { return notice_; }

 private:
  void begin(const RecipeDocument& document, const DocumentOperation& operation);
  void write(const std::string& line);

  std::filesystem::path file_;
  int descriptor_ = -1;
  size_t bytes_ = 0;
  std::string notice_;
};

}  // namespace ringwright::gui

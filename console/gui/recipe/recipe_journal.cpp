#include "console/gui/recipe/recipe_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "shared/base/files.h"

namespace ringwright::gui {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kConsolesMax = 16;
constexpr const char* kFormat = "ringwright-recipe-journal";
constexpr std::array<std::string_view, 4> kWhat = {"change", "undo", "redo", "saved"};

std::string line_of(const DocumentOperation& operation) {
  json line = {{"do", kWhat[static_cast<size_t>(operation.what)]}};
  if (operation.what == DocumentOperation::What::change) {
    line["at"] = operation.change.at;
    line["removed"] = operation.change.removed;
    line["inserted"] = operation.change.inserted;
    line["origin"] = kEditOriginNames[static_cast<size_t>(operation.origin)];
    line["ms"] = operation.time_ms;
  }
  if (operation.what == DocumentOperation::What::saved) line["text"] = operation.saved_text;
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

template <size_t count>
size_t index_in(const std::array<std::string_view, count>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::invalid_argument(name);
  return static_cast<size_t>(found - names.begin());
}

DocumentOperation operation_of(const json& line) {
  DocumentOperation operation;
  operation.what = static_cast<DocumentOperation::What>(index_in(kWhat, line.at("do")));
  if (operation.what == DocumentOperation::What::saved) operation.saved_text = line.at("text");
  if (operation.what != DocumentOperation::What::change) return operation;
  operation.change = {line.at("at"), line.at("removed"), line.at("inserted")};
  operation.origin = static_cast<EditOrigin>(index_in(kEditOriginNames, line.at("origin")));
  operation.time_ms = line.at("ms");
  return operation;
}

// Throws what nlohmann::json and operation_of throw for a journal that is none.
std::optional<RecipeDocument> read_journal(const std::string& text) {
  std::optional<RecipeDocument> document;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (stream.eof()) break;  // cut off: the console ended while it wrote
    const json parsed = json::parse(line);
    if (!document) {
      if (parsed.at(kFormat) != 1) throw std::invalid_argument("another version");
      document.emplace(fs::path(parsed.at("file").get<std::string>()), parsed.at("saved").get<std::string>());
      const std::string now = parsed.at("text");
      if (now != document->text()) document->change_to(now, EditOrigin::paste, 0);
    } else if (!document->repeat(operation_of(parsed))) {
      throw std::invalid_argument("an operation that does not fit");
    }
  }
  return document;
}

}  // namespace

RecipeJournal::RecipeJournal(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder.parent_path().parent_path(), failed);
  for (const fs::path& each : {folder.parent_path(), folder}) ::mkdir(each.c_str(), 0700);  // nobody else reads unsaved edits
  for (int n = 0; n < kConsolesMax && descriptor_ < 0; ++n) {
    file_ = folder / ("recipe-journal-" + std::to_string(n) + ".jsonl");
    if (const std::string kind = files::kind_if_not_regular(file_); !kind.empty()) {
      notice_ = "Edits are not kept for the case of a crash: " + file_.string() + " is " + kind + "; remove it";
      return;
    }
    const int opened = ::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (opened < 0) {
      notice_ = "Edits are not kept for the case of a crash: " + file_.string() + ": " + std::generic_category().message(errno);
      return;
    }
    if (::flock(opened, LOCK_EX | LOCK_NB) == 0) {
      descriptor_ = opened;
    } else {
      ::close(opened);
    }
  }
  if (descriptor_ < 0) notice_ = "Edits are not kept for the case of a crash: too many consoles are open";
}

RecipeJournal::~RecipeJournal() {
  if (descriptor_ < 0) return;
  // Unlinked while the lock is held, so that no other console has just taken the empty file.
  if (::lseek(descriptor_, 0, SEEK_END) == 0) ::unlink(file_.c_str());
  ::close(descriptor_);
}

std::optional<RecipeDocument> RecipeJournal::recover() {
  if (descriptor_ < 0) return std::nullopt;
  std::ostringstream text;
  text << std::ifstream(file_, std::ios::binary).rdbuf();
  if (text.str().empty()) return std::nullopt;
  try {
    std::optional<RecipeDocument> document = read_journal(text.str());
    if (document && document->is_dirty()) return document;
  } catch (const std::exception&) {  // json's and this file's: all mean that it cannot be read
    fs::path aside = file_;
    aside += ".damaged";
    std::ofstream(aside, std::ios::binary) << text.str();
    notice_ = "The journal of unsaved edits is damaged; it is kept as " + aside.filename().string();
  }
  clear();
  return std::nullopt;
}

void RecipeJournal::write(const std::string& line) {
  if (descriptor_ < 0) return;
  if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    notice_ = "Edits are no longer kept for the case of a crash: " + file_.string() + ": " + std::generic_category().message(errno);
    ::close(descriptor_);
    descriptor_ = -1;
    return;
  }
  bytes_ += line.size();
}

// With the text before its first operation, where that can be done again.
void RecipeJournal::begin(const RecipeDocument& document, const DocumentOperation& operation) {
  clear();
  std::string text = document.text();
  const bool is_change = operation.what == DocumentOperation::What::change;
  if (is_change) text.replace(operation.change.at, operation.change.inserted.size(), operation.change.removed);
  write(json{{kFormat, 1}, {"file", document.file().string()}, {"saved", document.saved_text()}, {"text", text}}.dump() + "\n");
  if (is_change) write(line_of(operation));
}

void RecipeJournal::clear() {
  bytes_ = 0;
  if (descriptor_ >= 0 && ::ftruncate(descriptor_, 0) != 0) write("\n");
}

void RecipeJournal::follow(RecipeDocument& document) {
  bool begun = false;
  document.on_operation([this, &document, begun](const DocumentOperation& operation) mutable {
    if (!begun || bytes_ > kJournalBytesMax) {
      begin(document, operation);
      begun = true;
    } else {
      write(line_of(operation));
    }
  });
}

}  // namespace ringwright::gui

// What is known of one text of a recipe: how it reads, what the guards say for each target, what a step needs and does. Made off the draw thread.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "console/gui/recipe/price.h"
#include "console/gui/recipe/recipe_stream.h"
#include "shared/base/error.h"
#include "shared/recipe/recipe.h"
#include "shared/support_matrix/examination.h"

namespace ringwright::gui {

struct CheckQuestion {
  uint64_t version = 0;  // of the document
  std::filesystem::path file;
  std::string text, saved_text;
  std::filesystem::path model_folder;  // chosen by hand; empty: what the recipe names
};

struct CheckedRecipe {
  uint64_t version = 0;
  std::string text;
  std::shared_ptr<const recipe::Recipe> recipe;   // null: the text does not load
  std::optional<ErrorParts> fault;                // why it does not load
  int fault_line = 0, fault_column = 0;           // in this text, from 1; 0: the fault is elsewhere
  std::shared_ptr<const recipe::Recipe> parents;  // what they alone give; null: there are none
  std::vector<std::string> line_ends;             // words behind the lines of the text
  int nodes = 0, ranks = 0;                       // of the cluster; 0: the recipe does not say
  std::optional<ErrorParts> check_fault;          // nothing could be examined: no row counts as passed
  support_matrix::Examination examination;
  std::optional<RecipeStream> stream;       // that its context ranks cut; nullopt: its batch is not known
  std::optional<Price> price, saved_price;  // of this text, and of the file's
};

// Reads parents, and the files that the recipe names.
CheckedRecipe check_recipe(const CheckQuestion& question);
// What check_recipe looks with.
support_matrix::CheckOptions check_options(const std::filesystem::path& model_folder);

inline constexpr int kRecheckDelayMs = 80;

// Checks the last question that was asked, once no other has come for kRecheckDelayMs.
class RecipeChecker {
 public:
  RecipeChecker();

  void ask(CheckQuestion question);
  // The newest answer; null before the first. Never waits.
  std::shared_ptr<const CheckedRecipe> answer() const;
  bool is_checking() const;

 private:
  void loop(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<CheckQuestion> asked_;
  uint64_t asked_count_ = 0;
  std::shared_ptr<const CheckedRecipe> answer_;
  bool checking_ = false;
  std::jthread thread_;
};

}  // namespace ringwright::gui

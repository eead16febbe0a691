#include "console/gui/recipe/checked_recipe.h"

#include <charconv>
#include <chrono>

#include "console/gui/data/guarded.h"
#include "console/gui/recipe/line_ends.h"
#include "shared/recipe/parallelism.h"

namespace ringwright::gui {
namespace {

namespace fs = std::filesystem;

// "recipe.yaml:3:5" of an error's place, where the file is this one.
void place_fault(const fs::path& file, CheckedRecipe& checked) {
  const std::string& where = checked.fault->where;
  const std::string start = file.string() + ":";
  if (!where.starts_with(start)) return;
  const char* end = where.data() + where.size();
  const auto line = std::from_chars(where.data() + start.size(), end, checked.fault_line);
  if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') return;
  std::from_chars(line.ptr + 1, end, checked.fault_column);
}

std::optional<Price> price_of_text(const fs::path& file, const std::string& text, const support_matrix::CheckOptions& options) {
  try {
    return price_of(support_matrix::examine(recipe::load_recipe_text(file, text), options));
  } catch (const std::exception&) {
    return std::nullopt;  // what the file held before is not what is looked at
  }
}

// Left at 0 where the recipe's sizes are none; the guards say what is wrong with them.
void count_ranks(CheckedRecipe& checked) {
  const nlohmann::json resolved = checked.recipe->resolved;
  try {
    const recipe::Typed typed(resolved);
    const int ranks = recipe::world_size(typed);
    checked.nodes = static_cast<int>(typed.integer("cluster.num_nodes", 1, 1, recipe::kRanksMax));
    checked.ranks = ranks;
  } catch (const Error&) {
    checked.nodes = checked.ranks = 0;
  }
}

void look_at_recipe(const support_matrix::CheckOptions& options, CheckedRecipe& checked) {
  count_ranks(checked);
  checked.parents = load_parents(*checked.recipe);
  checked.line_ends = line_ends(*checked.recipe, checked.parents.get());
  checked.examination = support_matrix::examine(*checked.recipe, options);
  checked.price = price_of(checked.examination);
  if (const auto& flow = checked.examination.flow) checked.stream = recipe_stream(*checked.recipe, flow->sizes);
}

}  // namespace

support_matrix::CheckOptions check_options(const fs::path& model_folder) {
  support_matrix::CheckOptions options;
  options.model_folder = model_folder;
  return options;
}

CheckedRecipe check_recipe(const CheckQuestion& question) {
  CheckedRecipe checked;
  checked.version = question.version;
  checked.text = question.text;
  const auto load = [&] { checked.recipe = std::make_shared<recipe::Recipe>(recipe::load_recipe_text(question.file, question.text)); };
  const auto place = [&](ErrorParts parts, std::optional<ErrorParts>& fault) {
    if (parts.where.empty()) parts.where = question.file.string();
    fault = std::move(parts);
  };
  if (!guarded(load, [&](const ErrorParts& parts) { place(parts, checked.fault); })) {
    place_fault(question.file, checked);
    return checked;
  }
  const support_matrix::CheckOptions options = check_options(question.model_folder);
  guarded([&] { look_at_recipe(options, checked); }, [&](const ErrorParts& parts) { place(parts, checked.check_fault); });
  checked.saved_price = question.saved_text == question.text ? checked.price : price_of_text(question.file, question.saved_text, options);
  return checked;
}

RecipeChecker::RecipeChecker() : thread_([this](const std::stop_token& stop) { loop(stop); }) {}

void RecipeChecker::ask(CheckQuestion question) {
  {
    std::scoped_lock lock(mutex_);
    asked_ = std::move(question);
    ++asked_count_;
  }
  wake_.notify_one();
}

std::shared_ptr<const CheckedRecipe> RecipeChecker::answer() const {
  std::scoped_lock lock(mutex_);
  return answer_;
}

bool RecipeChecker::is_checking() const {
  std::scoped_lock lock(mutex_);
  return checking_ || asked_.has_value();
}

void RecipeChecker::loop(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return asked_.has_value(); })) {
    // Each key that is typed begins the wait again.
    uint64_t seen = asked_count_ - 1;
    while (seen != asked_count_ && !stop.stop_requested()) {
      seen = asked_count_;
      wake_.wait_for(lock, stop, std::chrono::milliseconds(kRecheckDelayMs), [&] { return asked_count_ != seen; });
    }
    if (stop.stop_requested()) return;
    const CheckQuestion question = std::move(*asked_);
    asked_.reset();
    checking_ = true;
    lock.unlock();
    auto answer = std::make_shared<const CheckedRecipe>(check_recipe(question));
    lock.lock();
    answer_ = std::move(answer);
    checking_ = false;
  }
}

}  // namespace ringwright::gui

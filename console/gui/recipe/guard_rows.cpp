#include "console/gui/recipe/guard_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ringwright::gui {
namespace {

using support_matrix::Finding;
using support_matrix::Verdict;

// Rows of the matrix that look at a recipe before it runs.
size_t rows_before_a_run() {
  static const size_t count = [] {
    std::set<std::string> codes;
    for (const support_matrix::RowText& row : support_matrix::rows()) {
      if (row.level != "run") codes.insert(row.code);
    }
    return codes.size();
  }();
  return count;
}

bool is_own(const CheckedRecipe& checked, const recipe::Origin& origin) { return origin.line > 0 && origin.file == checked.recipe->file.string(); }

GuardRow row_of(const CheckedRecipe& checked, const Finding& finding, support_matrix::Target target) {
  GuardRow row;
  row.id = finding.code + " " + finding.key;
  row.code = finding.code, row.sentence = finding.reason, row.key = finding.key;
  row.state = state_of(finding.verdict(target));
  row.verdicts = finding.verdicts;
  row.origin = finding.origin;
  row.own_line = is_own(checked, finding.origin);
  row.fix = finding.fix, row.changes = finding.changes;
  row.changes_results = std::any_of(finding.changes.begin(), finding.changes.end(),
                                    [](const support_matrix::Change& change) { return change.effect == support_matrix::Effect::changes_training; });
  row.wants_model = row.state == GuardState::skipped && finding.key.find("model") != std::string::npos;
  return row;
}

GuardRow row_of(const CheckedRecipe& checked, const recipe::Warning& warning) {
  GuardRow row;
  row.id = warning.code + " " + warning.key;
  row.code = warning.code, row.sentence = warning.message, row.key = warning.key;
  row.state = GuardState::warning;
  row.has_verdicts = false;
  row.origin = warning.origin;
  row.own_line = is_own(checked, warning.origin);
  return row;
}

}  // namespace

GuardState state_of(Verdict verdict) {
  static constexpr std::array<GuardState, 7> states = {GuardState::passed, GuardState::conditional, GuardState::padded, GuardState::refused,
                                                       GuardState::passed, GuardState::refused,     GuardState::skipped};
  return states[static_cast<size_t>(verdict)];
}

const GuardRow* GuardList::first_refused() const { return !rows.empty() && rows.front().state == GuardState::refused ? &rows.front() : nullptr; }

GuardList guard_list(const CheckedRecipe& checked, support_matrix::Target target) {
  GuardList list;
  if (checked.check_fault) {
    GuardRow row;
    row.id = row.code = checked.check_fault->code;
    row.sentence = checked.check_fault->what;
    row.key = checked.check_fault->where;
    row.fix = checked.check_fault->action;
    row.state = GuardState::skipped;
    row.has_verdicts = false;
    list.rows.push_back(std::move(row));
    list.counts[static_cast<size_t>(GuardState::skipped)] = static_cast<int>(rows_before_a_run());
    return list;
  }
  if (!checked.recipe) return list;
  list.is_known = true;
  std::set<std::string> spoken;
  for (const Finding& finding : checked.examination.findings) {
    GuardRow row = row_of(checked, finding, target);
    if (row.state == GuardState::passed) continue;
    spoken.insert(finding.code);
    list.rows.push_back(std::move(row));
  }
  for (const recipe::Warning& warning : checked.recipe->warnings) list.rows.push_back(row_of(checked, warning));
  std::stable_sort(list.rows.begin(), list.rows.end(), [](const GuardRow& a, const GuardRow& b) { return a.state < b.state; });
  for (const GuardRow& row : list.rows) ++list.counts[static_cast<size_t>(row.state)];
  const size_t all = rows_before_a_run();
  list.counts[static_cast<size_t>(GuardState::passed)] = static_cast<int>(all - std::min(all, spoken.size()));
  return list;
}

std::string target_words(const GuardList& guards) {
  if (!guards.is_known) return "not checked";
  const auto count = [&](GuardState state) { return guards.counts[static_cast<size_t>(state)]; };
  if (count(GuardState::refused) > 0) return fmt::format("refused, {}", count(GuardState::refused));
  std::string words = "runs";
  if (count(GuardState::padded) > 0) words += fmt::format(", {} padded", count(GuardState::padded));
  if (count(GuardState::conditional) > 0) words += fmt::format(", {} if", count(GuardState::conditional));
  if (count(GuardState::skipped) > 0) words += fmt::format(", {} not checked", count(GuardState::skipped));
  return words;
}

}  // namespace ringwright::gui

#include "console/cli/check_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "console/cli/check_sharding.h"
#include "console/cli/table.h"
#include "console/cli/terminal.h"
#include "console/cli/verdict_style.h"
#include "shared/base/text.h"
#include "shared/recipe/key_table.h"
#include "shared/recipe/node.h"

namespace ringwright::cli {
namespace {

using nlohmann::ordered_json;
using support_matrix::Finding;
using support_matrix::Target;
using support_matrix::Verdict;

std::string_view name_of(Target target) { return support_matrix::kTargetNames[static_cast<size_t>(target)]; }

void print_findings(const std::vector<Finding>& findings) {
  Table table({{"code"}, {"what"}, {"automodel-0.4"}, {"automodel-0.6"}, {"ringwright"}, {"reason", Align::left, true}});
  for (const Finding& finding : findings) {
    std::vector<std::string> cells = {finding.code, finding.scope};
    for (const Verdict verdict : finding.verdicts) cells.push_back(styled_verdict(verdict));
    cells.push_back(finding.reason);
    table.add_row(std::move(cells));
  }
  table.print();
}

std::string place(const Finding& finding) {
  if (finding.origin.line <= 0) return finding.key;
  return fmt::format("{} ({})", finding.key, recipe::describe(finding.origin));
}

void print_stops(const CheckReport& report) {
  for (const Finding& finding : report.examination.findings) {
    if (!support_matrix::stops_one(finding, report.targets)) continue;
    fmt::print("\n{} {}: {}\n", styled(finding.code, Style::bad), finding.scope, finding.reason);
    if (!finding.key.empty()) fmt::print("  at: {}\n", place(finding));
    if (!finding.fix.empty()) fmt::print("  to fix: {}\n", finding.fix);
    const bool changes_training = std::any_of(finding.changes.begin(), finding.changes.end(), [](const support_matrix::Change& change) {
      return change.effect == support_matrix::Effect::changes_training;
    });
    if (changes_training) fmt::print("  note: this changes what is trained, so --fix does not do it\n");
  }
}

void print_warnings(const recipe::Recipe& recipe) {
  for (const recipe::Warning& warning : recipe.warnings)
    fmt::print("\n{} {}: {}\n  at: {}\n", styled(warning.code, Style::warning), warning.key, warning.message, recipe::describe(warning.origin));
}

// Of keys that no finding has spoken of.
std::vector<recipe::KeyFinding> notes_of(const CheckReport& report) {
  std::vector<recipe::KeyFinding> notes = recipe::notes(report.recipe);
  std::erase_if(notes, [&](const recipe::KeyFinding& note) {
    return std::any_of(report.examination.findings.begin(), report.examination.findings.end(), [&](const Finding& finding) {
      return finding.key == note.key || (!finding.key.empty() && note.key.starts_with(finding.key + "."));
    });
  });
  return notes;
}

// What is done in another way, or has no effect: one line a row of the table of keys.
void print_notes(const CheckReport& report) {
  const std::vector<recipe::KeyFinding> notes = notes_of(report);
  if (!notes.empty()) fmt::print("\n{}\n", styled("notes", Style::bold));
  for (const recipe::KeyFinding& note : notes) fmt::print("  {} ({}): {}\n", note.key, recipe::to_string(note.row->use), note.row->text);
}

void print_fix(const CheckReport& report) {
  const support_matrix::RecipeFix& fix = *report.fix;
  fmt::print("\n{}\n", styled(fix.made.empty() ? "nothing to fix without changing what is trained" : "fixed", Style::bold));
  for (const support_matrix::Change& change : fix.made) fmt::print("  {}\n", support_matrix::as_override(change));
  if (!report.written_to.empty()) fmt::print("  in {}\n", report.written_to);
  for (const Finding& finding : fix.left)
    for (const support_matrix::Change& change : finding.changes)
      fmt::print("  offered, since it changes what is trained or stands elsewhere: {} ({})\n", support_matrix::as_override(change), finding.code);
  if (!report.diff.empty()) fmt::print("\n{}", report.diff);
}

// A row that was skipped is not passed: what the recipe names is not here to be looked at.
std::string verdict_text(const std::vector<Finding>& findings, Target target) {
  if (support_matrix::refused(findings, target)) return styled("refused", Style::bad);
  std::vector<std::string> skipped;
  for (const Finding& finding : findings)
    if (finding.verdict(target) == Verdict::skipped) skipped.push_back(finding.scope);
  if (skipped.empty()) return styled("can run", Style::good);
  return styled(fmt::format("can run, unless what was skipped stands in the way: {}", fmt::join(skipped, ", ")), Style::warning);
}

std::string bytes(int64_t count) { return text::format_bytes(static_cast<uint64_t>(count)); }

std::string why_no_estimate(const CheckReport& report) {
  if (const auto& fault = report.examination.step_fault) return fault->what;
  return "the model's config.json is not at hand, not looked at, or is of a family that is not trained here (--model DIR)";
}

void print_estimate(const CheckReport& report) {
  if (!report.examination.estimate) {
    fmt::print("\nno estimate: {}\n", why_no_estimate(report));
    return;
  }
  fmt::print("\n{}\n", styled("memory of each rank, on this engine", Style::bold));
  Table table({{"term"}, {"estimate", Align::right}, {"bytes x values", Align::left, true}});
  for (const estimate::Term& term : report.examination.estimate->terms) table.add_row({term.name, bytes(term.bytes), term.formula});
  table.add_row({"together", bytes(report.examination.estimate->memory_bytes()), "without the program and its libraries"});
  table.add_row({"a checkpoint", bytes(report.examination.estimate->checkpoint_bytes), "on disk, of each save"});
  table.print();
}

ordered_json fix_json(const CheckReport& report) {
  ordered_json json = {{"made", ordered_json::array()}, {"offered", ordered_json::array()}, {"diff", report.diff}};
  for (const support_matrix::Change& change : report.fix->made) json["made"].push_back(support_matrix::as_override(change));
  for (const Finding& finding : report.fix->left)
    for (const support_matrix::Change& change : finding.changes) json["offered"].push_back(support_matrix::as_override(change));
  json["written_to"] = report.written_to.empty() ? ordered_json() : ordered_json(report.written_to);
  return json;
}

ordered_json estimate_json(const std::optional<estimate::Estimate>& estimate) {
  if (!estimate) return nullptr;
  ordered_json json;
  for (const estimate::Term& term : estimate->terms) json["terms"].push_back({{"name", term.name}, {"bytes", term.bytes}, {"formula", term.formula}});
  json["memory_bytes"] = estimate->memory_bytes();
  json["checkpoint_bytes"] = estimate->checkpoint_bytes;
  return json;
}

}  // namespace

bool CheckReport::refused() const {
  return std::any_of(targets.begin(), targets.end(), [&](Target target) { return support_matrix::refused(examination.findings, target); });
}

void print_report(const CheckReport& report) {
  fmt::print("{}\n", styled(report.recipe.file.string(), Style::bold));
  if (report.error) {
    fmt::print("{}\n", describe(*report.error));
    return;
  }
  print_findings(report.examination.findings);
  print_stops(report);
  print_warnings(report.recipe);
  print_notes(report);
  print_sharding(report.examination.plan);
  if (report.fix) print_fix(report);
  if (report.wants_estimate) print_estimate(report);
  fmt::print("\n");
  for (const Target target : report.targets) fmt::print("{}: {}\n", name_of(target), verdict_text(report.examination.findings, target));
}

ordered_json to_json(const CheckReport& report) {
  if (report.error) return {{"recipe", report.recipe.file.string()}, {"runs", false}, {"error", ringwright::to_json(*report.error)}};
  const bool one = report.targets.size() == 1;
  ordered_json json = {{"recipe", report.recipe.file.string()},
                       {"overrides", report.recipe.overrides},
                       {"target", one ? name_of(report.targets.front()) : "all"},
                       {"runs", !report.refused()}};
  for (const Target target : report.targets)
    json["targets"][std::string(name_of(target))] = {{"runs", !support_matrix::refused(report.examination.findings, target)}};
  json["findings"] = ordered_json::array();
  for (const Finding& finding : report.examination.findings) json["findings"].push_back(support_matrix::to_json(finding));
  json["sharding"] = sharding_json(report.examination.plan);
  json["warnings"] = ordered_json::array();
  for (const recipe::Warning& warning : report.recipe.warnings)
    json["warnings"].push_back({{"code", warning.code},
                                {"key", warning.key},
                                {"message", warning.message},
                                {"origin", {{"file", warning.origin.file}, {"line", warning.origin.line}, {"column", warning.origin.column}}}});
  json["notes"] = ordered_json::array();
  for (const recipe::KeyFinding& note : notes_of(report))
    json["notes"].push_back({{"key", note.key}, {"use", recipe::to_string(note.row->use)}, {"text", note.row->text}});
  if (report.fix) json["fix"] = fix_json(report);
  if (report.wants_estimate) json["estimate"] = estimate_json(report.examination.estimate);
  return json;
}

}  // namespace ringwright::cli

// Diff: what the runs that are shown in plots were started with, and where it differs.
#include <fmt/format.h>

#include <algorithm>

#include "console/gui/data/run_difference.h"
#include "console/gui/data/run_text.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr size_t kRunsMax = 6;

std::string cli_line(const Context& context) {
  const std::vector<std::string> runs = context.compared_runs();
  return runs.size() < 2 ? "" : fmt::format("ringwright runs diff {} {}", runs[0], runs[1]);
}

class ViewDiff : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    registry.add({"diff.all", "All keys, or only those that differ", "Diff", ImGuiKey_D, "D", nullptr, cli_line, [this](Context&) { all_ = !all_; },
                  ImGuiKey_None, "diff"});
  }
  void focus_filter() override { focus_filter_ = true; }

  void draw(Context& context) override {
    std::vector<std::string> wanted = context.compared_runs();
    if (wanted.size() > kRunsMax) wanted.resize(kRunsMax);
    if (wanted.size() < 2) {
      empty_state("Mark two runs", "Click the swatches of two or more runs in Runs, or press X on each");
      return;
    }
    ask(context, wanted);
    if (answer_.error()) {
      error_state(*answer_.error());
      return;
    }
    if (!answer_.value()) {
      skeleton(8, px(25));
      return;
    }
    draw_head(*answer_.value());
    draw_rows(context, *answer_.value());
  }

 private:
  void ask(Context& context, const std::vector<std::string>& wanted) {
    if (wanted != asked_) {
      asked_ = wanted;
      answer_.ask(context.background, [wanted](const Background::Access& access) {
        std::vector<history::RunRecord> runs;
        for (const std::string& id : wanted) runs.push_back(access.reader.run(id));
        return compare_runs(runs);
      });
    }
    answer_.take();
  }

  void draw_head(const RunDifference& difference) {
    filter_field("###diff.filter", "Filter keys", filter_, std::min(px(260), ImGui::GetContentRegionAvail().x * 0.4F), focus_filter_);
    ImGui::SameLine(0, px(12));
    int all = all_ ? 1 : 0;
    if (choice(
            "###diff.rows", "", all_ ? "all keys" : "differences", 2, [](int i) { return std::string(i == 0 ? "differences" : "all keys"); }, all,
            108))
      all_ = all == 1;
    ImGui::SameLine(0, px(12));
    ImGui::AlignTextToFramePadding();
    const size_t settings = difference.differing - difference.fingerprint_differing;
    std::string line = settings == 0 ? "Same config" : fmt::format("{} of {} keys differ", settings, difference.rows.size());
    if (difference.fingerprint_differing > 0)
      line +=
          fmt::format("; {} fingerprint line{}", difference.fingerprint_differing, difference.fingerprint_differing == 1 ? " differs" : "s differ");
    text_fitted(line, ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
  }

  void draw_rows(Context& context, const RunDifference& difference) {
    std::vector<const DifferenceRow*> shown;
    for (const DifferenceRow& row : difference.rows)
      if ((all_ || row.differs) && (filter_.empty() || matches_words(row.key, filter_))) shown.push_back(&row);
    if (shown.empty()) {
      empty_state(filter_.empty() ? "Nothing differs" : "No key matches",
                  filter_.empty() ? "The runs were started alike; D shows all keys" : "The filter is: " + filter_);
      return;
    }
    std::vector<TableColumn> columns = {{"key", 300}};
    for (size_t i = 0; i < difference.runs.size(); ++i) {
      const auto run = context.state.find(difference.runs[i]);
      columns.push_back({(run ? run->record.name : difference.runs[i]) + (difference.has_recipe[i] ? "" : " (no stored recipe)"), 0});
    }
    if (!begin_table("###diff.table", columns)) return;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(shown.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(context, *shown[static_cast<size_t>(i)]);
    end_table();
  }

  static void draw_row(Context& context, const DifferenceRow& row) {
    push_name_id(row.key);
    const std::string recipe_key = row.key.starts_with("recipe.") ? row.key.substr(7) : "";
    if (table_row("###row", !recipe_key.empty() && context.selection.recipe_key == recipe_key) && !recipe_key.empty())
      context.selection.recipe_key = recipe_key;
    if (!row.effect.empty() && ImGui::IsItemHovered()) {
      ImGui::BeginTooltip();
      text(row.effect, Role::label);
      ImGui::EndTooltip();
    }
    cell(row.key, Token::text2, Role::code);
    for (const auto& value : row.values) {
      const bool as_first = value == row.values.front();
      cell(setting_text(value), !value ? Token::text3 : as_first ? Token::text2 : Token::text, Role::code);
    }
    ImGui::PopID();
  }

  Question<RunDifference> answer_;
  std::vector<std::string> asked_;
  std::string filter_;
  bool all_ = false, focus_filter_ = false;
};

const RegisterView registration({"diff", "Diff", "D", make_view<ViewDiff>});

}  // namespace
}  // namespace ringwright::gui

// Parity: whether two runs did the same, step by step.
#include <fmt/format.h>

#include <algorithm>

#include "console/gui/data/run_parity.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

class ViewParity : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    registry.add({"parity.next", "Next metric that differs, at its first differing step", "Parity", ImGuiKey_N, "N",
                  [this](const Context&) { return rows_ == nullptr ? std::optional<std::string>("no two runs are compared") : std::nullopt; },
                  [this](const Context& context) { return line(context); }, [this](Context& context) { next_difference(context); }, ImGuiKey_None,
                  "parity"});
  }

  void draw(Context& context) override {
    const std::vector<std::string> marked = context.compared_runs();
    rows_ = nullptr;
    if (marked.size() < 2) {
      empty_state("Mark two runs", "Click the swatches of two runs in Runs, or press X on each");
      return;
    }
    ask(context, {marked[0], marked[1]});
    if (answer_.error()) {
      error_state(*answer_.error());
      return;
    }
    if (!answer_.value() || answer_.value()->a != asked_[0] || answer_.value()->b != asked_[1]) {
      skeleton(8, px(25));
      return;
    }
    const RunParity& parity = *answer_.value();
    draw_head(context, parity, marked.size());
    if (parity.rows.empty()) {
      empty_state("No common metric", "The two runs have no metric of the same name");
      return;
    }
    rows_ = &parity.rows;
    draw_table(context, parity);
  }

 private:
  std::string line(const Context&) const {
    if (asked_.size() < 2) return "";
    const std::string metric = current_.empty() ? "" : " -m " + current_;
    return fmt::format("ringwright runs parity {} {}{}", asked_[0], asked_[1], metric);
  }

  void ask(Context& context, const std::vector<std::string>& wanted) {
    if (wanted != asked_) {
      asked_ = wanted;
      answer_.ask(context.background, [wanted](const Background::Access& access) { return compare_metrics(access.reader, wanted[0], wanted[1]); });
    }
    answer_.take();
  }

  void go_to(Context& context, const ParityRow& row) {
    current_ = row.metric;
    context.selection.step = row.first_different_step;
    context.cli_line = line(context);
  }

  void next_difference(Context& context) {
    const auto differs = [](const ParityRow& row) { return row.first_different_step.has_value(); };
    const auto at = std::find_if(rows_->begin(), rows_->end(), [&](const ParityRow& row) { return row.metric == current_; });
    auto next = std::find_if(at == rows_->end() ? rows_->begin() : std::next(at), rows_->end(), differs);
    if (next == rows_->end()) next = std::find_if(rows_->begin(), rows_->end(), differs);
    if (next != rows_->end()) go_to(context, *next);
  }

  void draw_head(const Context& context, const RunParity& parity, size_t marked) const {
    const auto name = [&](const std::string& id) {
      const auto run = context.state.find(id);
      return run ? run->record.name + " (" + id + ")" : id;
    };
    std::string pair = name(parity.a) + " and " + name(parity.b);
    if (marked > 2) pair += fmt::format(", the first two of {} marked", marked);
    text_fitted(pair, ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
    if (parity.not_comparable.empty()) return;
    icon(icons::triangle, 15, color(Token::warn));
    ImGui::SameLine(0, px(6));
    text_fitted("Not comparable step by step: " + parity.not_comparable, ImGui::GetContentRegionAvail().x, Role::label, color(Token::warn));
  }

  void draw_table(Context& context, const RunParity& parity) {
    const std::vector<TableColumn> columns = {{"metric", 0},
                                              {"", 108},
                                              {"steps equal", 96, true},
                                              {"mean difference", 116, true},
                                              {"largest", 86, true},
                                              {"first that differs", 118, true}};
    if (!begin_table("###parity.table", columns)) return;
    for (const ParityRow& row : parity.rows) draw_row(context, row, !parity.not_comparable.empty());
    end_table();
  }

  void draw_row(Context& context, const ParityRow& row, bool not_comparable) {
    push_name_id(row.metric);
    if (table_row("###row", row.metric == current_)) go_to(context, row);
    cell(row.metric, Token::text, Role::code);
    const bool equal = !row.first_different_step, shorter = row.only_one > 0 && row.equal_bits == row.common;
    const Token ink = not_comparable ? Token::text3 : equal || row.within_tolerance ? Token::ok : Token::warn;
    icon(equal || row.within_tolerance ? icons::check_circle : icons::triangle, 14, color(ink));
    ImGui::SameLine(0, px(5));
    cell(equal ? "the same" : shorter ? "same, then ends" : row.within_tolerance ? "within 1e-4" : "differs", Token::text2, Role::label);
    number_cell(fmt::format("{} of {}", text::format_count(row.equal_bits), text::format_count(row.common)));
    number_cell(fmt::format("{:.2e}", row.mean_difference));
    number_cell(fmt::format("{:.2e}", row.largest_difference));
    number_cell(row.first_different_step ? text::format_count(*row.first_different_step) : "none", Token::text2);
    ImGui::PopID();
  }

  Question<RunParity> answer_;
  std::vector<std::string> asked_;
  const std::vector<ParityRow>* rows_ = nullptr;  // of the answer, while it is shown
  std::string current_;
};

const RegisterView registration({"parity", "Parity", "P", make_view<ViewParity>});

}  // namespace
}  // namespace ringwright::gui

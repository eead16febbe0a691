// Alerts: what needs the operator, and where it happened.
#include <fmt/format.h>

#include <algorithm>

#include "console/gui/data/run_text.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

struct SeverityLook {
  const Icon* icon;
  Token token;
  const char* word;
};
SeverityLook look_of(Severity severity) {
  static constexpr SeverityLook looks[] = {
      {&icons::information, Token::text2, "news"}, {&icons::triangle, Token::warn, "warning"}, {&icons::cross_circle, Token::error, "failure"}};
  return looks[static_cast<size_t>(severity)];
}

std::optional<std::string> no_alert(const Context& context) {
  if (context.alerts.rows().empty()) return "there is no alert";
  return std::nullopt;
}

std::string list_line(const Context&) { return "ringwright alert list"; }

class ViewAlerts : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    registry.add({"alerts.next", "Next alert that is open", "Alerts", ImGuiKey_N, "N", no_alert, nullptr,
                  [](Context& context) { context.alerts.jump(context, 1); }});
    registry.add({"alerts.previous", "Previous alert that is open", "Alerts", ImGuiMod_Shift | ImGuiKey_N, "Shift+N", no_alert, nullptr,
                  [](Context& context) { context.alerts.jump(context, -1); }});
    registry.add({"alerts.go", "Show the logs of the current alert at its time", "Alerts", ImGuiKey_Enter, "Enter", no_alert, nullptr,
                  [](Context& context) {
                    for (const AlertRow& row : context.alerts.rows())
                      if (row.key() == context.alerts.current()) context.alerts.go_to(context, row);
                    context.focus_view = "logs";
                  },
                  ImGuiKey_None, "alerts"});
    registry.add({"alerts.acknowledge", "Acknowledge the current alert, or open it again", "Alerts", ImGuiKey_K, "K", no_alert, list_line,
                  [](Context& context) { context.alerts.toggle_acknowledged(context); }, ImGuiKey_None, "alerts"});
    registry.add({"alerts.down", "Down the list of alerts", "Alerts", ImGuiKey_DownArrow, "Down", no_alert, nullptr,
                  [this](Context& context) { move(context, 1); }, ImGuiKey_None, "alerts"});
    registry.add({"alerts.up", "Up the list of alerts", "Alerts", ImGuiKey_UpArrow, "Up", no_alert, nullptr,
                  [this](Context& context) { move(context, -1); }, ImGuiKey_None, "alerts"});
  }

  void draw(Context& context) override {
    const std::vector<AlertRow>& rows = context.alerts.rows();
    if (rows.empty()) {
      empty_state("Nothing needs you", context.state.runs_known() ? "No run has raised an alert" : "The history is being read");
      return;
    }
    draw_head(context);
    const float width = ImGui::GetContentRegionAvail().x / scale();
    std::vector<TableColumn> columns = {
        {"", 16}, {"rule", 76}, {"run", width > 620 ? 150.0F : 110.0F}, {"what", 0}, {"rank", 36, true}, {"times", 44, true}, {"since", 76, true}};
    if (!begin_table("###alerts.table", columns)) return;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(context, rows[static_cast<size_t>(i)]);
    end_table();
  }

 private:
  static void move(Context& context, int by) {
    const std::vector<AlertRow>& rows = context.alerts.rows();
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const AlertRow& row) { return row.key() == context.alerts.current(); });
    const int64_t at = found == rows.end() ? -1 : found - rows.begin();
    context.alerts.go_to(context, rows[static_cast<size_t>(std::clamp<int64_t>(at + by, 0, static_cast<int64_t>(rows.size()) - 1))]);
  }

  static void draw_head(Context& context) {
    const int open = context.alerts.open_count();
    ImGui::AlignTextToFramePadding();
    if (open > 0) {
      text(fmt::format("{} open, {} in all", open, context.alerts.rows().size()), Role::label, Token::text2);
    } else {
      const double age_s = context.age_s(context.alerts.rows().front().alert.last_unix_ns);
      text("Nothing needs you. Last alert " + text::format_elapsed(age_s) + " ago", Role::label, Token::text2);
    }
    ImGui::SameLine();
    const ImGuiStyle& style = ImGui::GetStyle();
    const float width =
        ImGui::CalcTextSize("Acknowledge").x + ImGui::CalcTextSize("Logs at its time").x + 4 * style.FramePadding.x + style.ItemSpacing.x;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0F, ImGui::GetContentRegionAvail().x - width));
    const bool none = context.alerts.current().empty();
    const std::string reason = none ? "choose an alert first: click a row, or N" : "";
    if (button_or_reason("Acknowledge###alerts.acknowledge", reason)) context.commands.run("alerts.acknowledge", context);
    ImGui::SameLine();
    if (button_or_reason("Logs at its time###alerts.go", reason)) context.commands.run("alerts.go", context);
  }

  static void draw_row(Context& context, const AlertRow& row) {
    push_name_id(row.key());
    if (table_row("###row", row.key() == context.alerts.current())) context.alerts.go_to(context, row);
    const SeverityLook look = look_of(row.severity);
    const Token ink = row.acknowledged ? Token::text3 : Token::text;
    icon(row.acknowledged && row.severity != Severity::news ? icons::check_circle : *look.icon, 15,
         color(row.acknowledged ? Token::text3 : look.token));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s%s", look.word, row.acknowledged && row.severity != Severity::news ? ", acknowledged" : "");
    ImGui::TableNextColumn();
    cell(row.alert.kind, ink, Role::code);
    cell(row.run->record.name.empty() ? row.run->record.id : row.run->record.name, ink);
    cell(row.alert.text, ink);
    number_cell(row.rank() < 0 ? "-" : std::to_string(row.rank()), ink);
    number_cell(text::format_count(row.alert.count), ink);
    text_right(clock_text(row.alert.first_unix_ns), ImGui::GetContentRegionAvail().x, Role::number, color(Token::text2));
    ImGui::PopID();
  }
};

const RegisterView registration({"alerts", "Alerts", "A", make_view<ViewAlerts>});

}  // namespace
}  // namespace ringwright::gui

// Cluster: the node's devices, and the ranks of the current run by their last sign of life; those that need a look come first.
#include <fmt/format.h>

#include <algorithm>

#include "console/gui/data/run_text.h"
#include "console/gui/views/device_table.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/health.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr float kDevicesShare = 0.55F;  // of the view, at most

struct Row {
  const history::RankStatus* status;
  double age_s;
  Health health;
};

Health health_of(const Run& run, double age_s) { return history::is_final(run.record.state) ? Health::over : health_at(age_s); }

std::vector<Row> rows_of(const Context& context, const Run& run) {
  std::vector<Row> rows;
  for (const auto& [rank, status] : run.parts.ranks) {
    if (rank < 0) continue;
    const double age_s = context.age_s(status.time_unix_ns);
    rows.push_back({&status, age_s, health_of(run, age_s)});
  }
  const auto trouble = [](const Row& row) { return row.health == Health::lost ? 0 : row.health == Health::stale ? 1 : 2; };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return trouble(a) < trouble(b); });
  return rows;
}

// Of one core, since the run began; nothing where the clocks do not tell.
std::optional<double> cpu_share(const Run& run, const history::RankStatus& status) {
  const double seconds = static_cast<double>(status.time_unix_ns - run.record.started_unix_ns) / 1e9;
  if (run.record.started_unix_ns == 0 || seconds <= 0 || status.cpu_seconds <= 0) return std::nullopt;
  return status.cpu_seconds / seconds;
}

class ViewCluster : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    registry.add(
        {"cluster.logs", "Logs of the current rank", "Cluster", ImGuiKey_Enter, "Enter",
         [](const Context& context) { return context.selection.rank < 0 ? std::optional<std::string>("no rank is selected") : std::nullopt; },
         [](const Context& context) { return fmt::format("ringwright logs {} --rank {}", context.selection.run, context.selection.rank); },
         [](Context& context) { context.focus_view = "logs"; }, ImGuiKey_None, "cluster"});
  }

  void draw(Context& context) override {
    draw_devices(context, kDevicesShare);
    const auto run = context.run();
    if (!run) {
      empty_state("No run is selected", "Click a run in Runs to see how its ranks are");
      return;
    }
    if (run->details == Loading::reading && run->parts.ranks.empty()) {
      skeleton(6, px(25));
      return;
    }
    const std::vector<Row> rows = rows_of(context, *run);
    if (rows.empty()) {
      const std::string ranks =
          fmt::format("{} has {} rank{}; none has reported yet", run->record.name, run->record.world_size, run->record.world_size == 1 ? "" : "s");
      empty_state(context.state.devices() && !context.state.devices()->devices.empty() ? "No rank has reported" : "No devices reported",
                  ranks + ". What this machine has: ringwright doctor");
      return;
    }
    draw_head(context, *run, rows);
    draw_table(context, *run, rows);
  }

 private:
  static void draw_head(Context& context, const Run& run, const std::vector<Row>& rows) {
    const auto count = [&](Health health) { return std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.health == health; }); };
    const auto stale = count(Health::stale), lost = count(Health::lost);
    std::string line = fmt::format("{}: {} of {} ranks", run.record.name, rows.size(), run.record.world_size);
    if (history::is_final(run.record.state)) line += ", as they were at the end";
    if (stale > 0) line += fmt::format(", {} silent for 3 s or more", stale);
    if (lost > 0) line += fmt::format(", {} for 15 s or more", lost);
    const Token ink = lost > 0 ? Token::error : stale > 0 ? Token::warn : Token::text2;
    text_fitted(line, ImGui::GetContentRegionAvail().x, Role::label, color(context.is_silent() ? Token::text3 : ink));
  }

  static void draw_table(Context& context, const Run& run, const std::vector<Row>& rows) {
    const float width = ImGui::GetContentRegionAvail().x / scale();
    const bool roomy = width > 760;
    std::vector<TableColumn> columns = {
        {"", 16}, {"rank", 34, true}, {"step", 52, true}, {"CPU", 92, true}, {"memory, of its peak", roomy ? 170.0F : 0, true}};
    columns.push_back({"last", 66, true});
    if (roomy) columns.push_back({"", 0});  // a bar and its number stay together, however wide the view is
    if (!begin_table("###cluster.table", columns)) return;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(context, run, rows[static_cast<size_t>(i)]);
    end_table();
  }

  static void draw_row(Context& context, const Run& run, const Row& row) {
    const history::RankStatus& status = *row.status;
    ImGui::PushID(status.rank);
    if (table_row("###row", context.selection.rank == status.rank)) context.selection.rank = status.rank;
    const bool past = row.health == Health::lost || context.is_silent();
    const Token ink = past ? Token::text3 : Token::text;
    icon(icon_of(row.health), 14, color(token_of(row.health)));
    ImGui::TableNextColumn();
    number_cell(std::to_string(status.rank), ink);
    number_cell(status.step < 0 ? "-" : text::format_count(status.step), ink);
    const auto share = cpu_share(run, status);
    bar_cell(share.value_or(-1), share ? fmt::format("{:.0f} %", *share * 100) : "-", past ? Token::text3 : Token::accent);
    const double of_peak =
        status.resident_bytes_max > 0 ? static_cast<double>(status.resident_bytes) / static_cast<double>(status.resident_bytes_max) : -1;
    bar_cell(of_peak, text::format_bytes(status.resident_bytes), past ? Token::text3 : Token::accent);
    text_right(row.health == Health::over ? time_of_day_text(status.time_unix_ns) : age_text(row.age_s, row.health), ImGui::GetContentRegionAvail().x,
               Role::number, color(age_ink(row.health)));
    ImGui::PopID();
  }
};

const RegisterView registration({"cluster", "Cluster", "C", make_view<ViewCluster>});

}  // namespace
}  // namespace ringwright::gui

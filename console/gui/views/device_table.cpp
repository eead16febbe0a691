#include "console/gui/views/device_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/gui/widgets/health.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"
#include "shared/wire/device_text.h"

namespace ringwright::gui {
namespace {

using wire::DeviceReading;
using wire::DeviceReport;

constexpr float kRowHeight = 25, kHeaderHeight = 29;
constexpr float kMedium = 560, kRoomy = 700;  // design pixels
constexpr double kGib = 1ULL << 30;

struct Look {
  Health health;
  double age_s;
  bool past;  // what is shown was so, and may not be any more
};

// One that was never read has no age.
Look look_of(const Context& context, const DeviceReport& report) {
  const double age_s = report.read_unix_ns == 0 ? 0 : context.age_s(report.read_unix_ns);
  const Health health = health_at(age_s);
  return {health, age_s, health == Health::lost || context.is_silent()};
}

double memory_share(const DeviceReading& device) {
  if (!device.memory_used_bytes || device.memory_total_bytes.value_or(0) == 0) return -1;
  return static_cast<double>(*device.memory_used_bytes) / static_cast<double>(*device.memory_total_bytes);
}

std::string memory_text(const DeviceReading& device) {
  if (memory_share(device) < 0) return "-";
  return fmt::format("{:.0f} of {:.0f} GiB", static_cast<double>(*device.memory_used_bytes) / kGib,
                     static_cast<double>(*device.memory_total_bytes) / kGib);
}

// "0, 1" of the current run; others are named.
std::string ranks_text(const Context& context, const DeviceReading& device) {
  std::string list;
  for (const wire::DeviceRank& rank : device.ranks)
    list +=
        (list.empty() ? "" : ", ") + (rank.run == context.selection.run ? std::to_string(rank.rank) : fmt::format("{} of {}", rank.rank, rank.run));
  return list.empty() ? "-" : list;
}

std::string names_text(const DeviceReport& report) {
  const std::string& name = report.devices.front().name;
  const bool same = std::all_of(report.devices.begin(), report.devices.end(), [&](const DeviceReading& device) { return device.name == name; });
  if (!same || name.empty()) return fmt::format("{} devices", report.devices.size());
  return fmt::format("{} x {}", report.devices.size(), name);
}

void draw_hint(const Context& context, const DeviceReport& report, const DeviceReading& device) {
  const auto line = [](const std::string& content) { text(content, Role::label); };
  const auto count = [](const std::optional<uint64_t>& value) { return value ? std::to_string(*value) : "no reading"; };
  ImGui::BeginTooltip();
  line(fmt::format("{} {}", device.index, device.name));
  if (!device.uuid.empty()) line(device.uuid);
  if (!device.fault.empty()) line("fault: " + device.fault);
  line("ranks: " + ranks_text(context, device));
  line(fmt::format("power: {} of {}", wire::number_text(device.power_w, "W"), wire::number_text(device.power_limit_w, "W")));
  line("throttling: " + (!device.throttle_reasons           ? "no reading"
                         : device.throttle_reasons->empty() ? "none"
                                                            : fmt::format("{}", fmt::join(*device.throttle_reasons, ", "))));
  line(fmt::format("ECC errors: {} corrected, {} uncorrected", count(device.ecc_corrected), count(device.ecc_uncorrected)));
  line("Xid errors: " + count(device.xid_count) + (device.xid_last ? fmt::format(", the last {}", *device.xid_last) : "") +
       (device.xid_age_s ? fmt::format(", {} before this reading", text::format_elapsed(*device.xid_age_s)) : ""));
  if (!report.driver.empty()) line("driver " + report.driver);
  ImGui::EndTooltip();
}

std::vector<TableColumn> columns_for(float width) {
  std::vector<TableColumn> columns = {{"", 16}, {"device", 40, true}, {"GPU", 84, true}};
  if (width > kMedium) columns.insert(columns.end(), {{"memory", 138, true}, {"power", 48, true}, {"temp", 44, true}});
  if (width > kRoomy) columns.push_back({"rank", 120});
  columns.insert(columns.end(), {{"condition", 0}, {"read", 66, true}});
  return columns;
}

void draw_row(Context& context, const DeviceReport& report, const DeviceReading& device, const Look& look, float width) {
  const bool trouble = wire::needs_a_look(device);
  const Token ink = look.past ? Token::text3 : Token::text, fill = look.past ? Token::text3 : Token::accent;
  ImGui::PushID(device.index);
  const auto of_run = [&](const wire::DeviceRank& rank) { return rank.run == context.selection.run; };
  if (table_row("###device", false))
    if (const auto first = std::find_if(device.ranks.begin(), device.ranks.end(), of_run); first != device.ranks.end())
      context.selection.rank = first->rank;
  if (ImGui::IsItemHovered()) draw_hint(context, report, device);
  const bool lost = look.health == Health::lost;
  icon(trouble && !lost ? icons::triangle : icon_of(look.health), 14, color(trouble && !lost ? Token::warn : token_of(look.health)));
  ImGui::TableNextColumn();
  number_cell(std::to_string(device.index), ink);
  bar_cell(device.utilisation_percent ? *device.utilisation_percent / 100 : -1, wire::number_text(device.utilisation_percent, "%"), fill);
  if (width > kMedium) {
    bar_cell(memory_share(device), memory_text(device), fill);
    number_cell(wire::number_text(device.power_w, "W"), ink);
    number_cell(wire::number_text(device.temperature_c, "°C"), ink);
  }
  if (width > kRoomy) cell(ranks_text(context, device), ink);
  cell(wire::condition_text(device), look.past ? Token::text3 : trouble ? Token::warn : Token::text2);
  text_right(age_text(look.age_s, look.health), ImGui::GetContentRegionAvail().x, Role::number, color(age_ink(look.health)));
  ImGui::PopID();
}

}  // namespace

std::string devices_line(const Context& context) {
  const DeviceReport* report = context.state.devices().get();
  if (report == nullptr) return context.state.link().state == LinkState::connected ? "Devices: no reading, this daemon sends none" : "";
  if (const std::string none = wire::no_devices_text(*report); !none.empty()) return "Devices: " + none;
  std::string line = names_text(*report);
  if (!report->driver.empty()) line += ", driver " + report->driver;
  const auto troubled = std::count_if(report->devices.begin(), report->devices.end(), wire::needs_a_look);
  if (troubled > 0) line += fmt::format("; {} need{} a look", troubled, troubled == 1 ? "s" : "");
  return line;
}

void draw_devices(Context& context, float share) {
  const std::string line = devices_line(context);
  if (line.empty()) return;
  const std::shared_ptr<const DeviceReport> report = context.state.devices();
  const Look look = report ? look_of(context, *report) : Look{Health::live, 0, true};
  text_fitted(line, ImGui::GetContentRegionAvail().x, Role::label, color(look.past ? Token::text3 : Token::text2));
  if (!report || report->devices.empty()) return;
  const float width = ImGui::GetContentRegionAvail().x / scale();
  const float wanted = px(kHeaderHeight + kRowHeight * static_cast<float>(report->devices.size()));
  const float room = ImGui::GetContentRegionAvail().y * share;
  if (!begin_table("###cluster.devices", columns_for(width), std::max(std::min(wanted, room), px(kHeaderHeight + kRowHeight)))) return;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(report->devices.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(context, *report, report->devices[static_cast<size_t>(i)], look, width);
  end_table();
}

}  // namespace ringwright::gui

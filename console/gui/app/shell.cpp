#include "console/gui/app/shell.h"

#include <imgui_internal.h>

#include <algorithm>

#include "console/gui/data/link_text.h"
#include "console/gui/services/confirmation.h"
#include "console/gui/services/layouts.h"
#include "console/gui/services/style.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr float kTopBar = 44, kStatusBar = 26;
constexpr float kColumnsMin = 1280, kPanesMin = 900;  // design pixels: below, views become tabs

std::string window_name(const ViewEntry& entry) { return entry.title + "###view." + entry.id; }

DockArea views(std::vector<std::string> list) { return {.views = std::move(list)}; }

DockArea split(std::vector<std::pair<float, DockArea>> parts, bool side_by_side) {
  DockArea area{.side_by_side = side_by_side};
  for (auto& [share, part] : parts) {
    part.share = share;
    area.parts.push_back(std::move(part));
  }
  return area;
}
DockArea columns(std::vector<std::pair<float, DockArea>> parts) { return split(std::move(parts), true); }
DockArea rows(std::vector<std::pair<float, DockArea>> parts) { return split(std::move(parts), false); }

void add_views(const DockArea& area, std::vector<std::string>& all) {
  for (const std::string& id : area.views) {
    const auto& entries = view_entries();
    if (std::any_of(entries.begin(), entries.end(), [&](const ViewEntry& entry) { return entry.id == id; })) all.push_back(id);
  }
  for (const DockArea& part : area.parts) add_views(part, all);
}

// Areas in which there is something, with shares that add up to one.
DockArea without_empty(const DockArea& area) {
  DockArea kept{.share = area.share, .views = area.views, .side_by_side = area.side_by_side};
  float sum = 0;
  for (const DockArea& part : area.parts) {
    std::vector<std::string> inside;
    add_views(part, inside);
    if (inside.empty()) continue;
    kept.parts.push_back(without_empty(part));
    sum += part.share;
  }
  for (DockArea& part : kept.parts) part.share /= sum;
  return kept;
}

// Narrow windows have fewer columns: the last one's views become tabs of the one before it; in a very narrow one there is but one area.
DockArea fitted(const DockArea& area, float width) {
  DockArea kept = without_empty(area);
  if (width < kPanesMin) {
    DockArea one;
    add_views(kept, one.views);
    return one;
  }
  if (width >= kColumnsMin || !kept.side_by_side || kept.parts.size() < 3) return kept;
  std::vector<std::string> moved;
  add_views(kept.parts.back(), moved);
  kept.parts.pop_back();
  kept.parts.back().views.insert(kept.parts.back().views.end(), moved.begin(), moved.end());
  return without_empty(kept);
}

void dock_area(const DockArea& area, ImGuiID node) {
  for (const std::string& id : area.views)
    for (const ViewEntry& entry : view_entries())
      if (entry.id == id) ImGui::DockBuilderDockWindow(window_name(entry).c_str(), node);
  float left = 1;
  for (size_t i = 0; i < area.parts.size(); ++i) {
    ImGuiID part = node, rest = node;
    if (i + 1 < area.parts.size()) {
      ImGui::DockBuilderSplitNode(node, area.side_by_side ? ImGuiDir_Left : ImGuiDir_Up, area.parts[i].share / left, &part, &rest);
      left -= area.parts[i].share;
    }
    dock_area(area.parts[i], part);
    node = rest;
  }
}

const WorkspaceEntry& workspace_named(const std::string& id) {
  const auto& all = workspaces();
  const auto found = std::find_if(all.begin(), all.end(), [&](const WorkspaceEntry& entry) { return entry.id == id; });
  return found == all.end() ? all[1] : *found;
}

// A bar that is no dockable window.
void begin_bar(const char* id, float top, float height) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport->Pos.x, viewport->Pos.y + top});
  ImGui::SetNextWindowSize({viewport->Size.x, height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(12), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, color(Token::bg0));
  ImGui::Begin(id, nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDocking |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
}

// A ring of two arcs in the first two series colours: the head and the tail of a chunked sequence.
void draw_brand_mark(ImDrawList* list, ImVec2 center) {
  const float radius = px(7);
  list->PathArcTo(center, radius, -2.2F, 1.3F, 24);
  list->PathStroke(to_u32(theme().series[1]), px(3));
  list->PathArcTo(center, radius, 1.6F, 3.8F, 24);
  list->PathStroke(to_u32(theme().series[0]), px(3));
}

struct LinkLook {
  const char* word;
  Token token;
};
LinkLook link_look(LinkState state) {
  static constexpr LinkLook looks[] = {
      {"Local file", Token::neutral}, {"Connecting", Token::info}, {"Connected", Token::ok}, {"Stale", Token::warn}, {"Lost", Token::error}};
  return looks[static_cast<size_t>(state)];
}

const Icon& link_icon(LinkState state) {
  static const Icon* const list[] = {&icons::information, &icons::clock, &icons::check_circle, &icons::triangle, &icons::unlinked};
  return *list[static_cast<size_t>(state)];
}

Token notice_token(Notice::Level level) {
  static constexpr Token tokens[] = {Token::info, Token::ok, Token::warn, Token::error};
  return tokens[static_cast<size_t>(level)];
}

const Icon& notice_icon(Notice::Level level) {
  static const Icon* const list[] = {&icons::information, &icons::check_circle, &icons::triangle, &icons::cross_circle};
  return *list[static_cast<size_t>(level)];
}

// A square button with an icon; the command's title and keys on hover.
bool icon_button(const char* id, const Icon& shown, Token ink, std::string_view hint, float bar_height) {
  const float size = px(28);
  ImGui::SetCursorPosY((bar_height - size) / 2);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const bool pressed = ImGui::InvisibleButton(id, {size, size});
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered()) {
    list->AddRectFilled(start, {start.x + size, start.y + size}, color(Token::bg3), px(4));
    ImGui::BeginTooltip();
    text(hint, Role::label);
    ImGui::EndTooltip();
  }
  draw_icon(list, shown, {start.x + size / 2, start.y + size / 2}, 18, color(ink));
  return pressed;
}

}  // namespace

const std::vector<WorkspaceEntry>& workspaces() {
  static const std::vector<WorkspaceEntry> list = {
      {"prepare", "Prepare", "1",
       columns({{0.27F, rows({{0.63F, views({"launch"})}, {0.37F, views({"mesh"})}})},
                {0.46F, views({"layout", "memory", "flow"})},
                {0.27F, views({"guards"})}})},
      {"watch", "Watch", "2",
       columns({{0.39F, rows({{0.64F, views({"runs"})}, {0.36F, views({"cluster"})}})},
                {0.61F, rows({{0.64F, views({"metrics", "samples", "rollout", "teacher", "alignment"})},
                              {0.36F, views({"timeline", "logs", "alerts"})}})}})},
      {"compare", "Compare", "3",
       columns({{0.30F, views({"runs"})}, {0.70F, rows({{0.5F, views({"metrics"})}, {0.5F, views({"diff", "parity", "layout"})}})}})},
      {"investigate", "Investigate", "4",
       rows({{0.45F, views({"timeline", "metrics"})},
             {0.55F, columns({{0.6F, views({"logs", "query"})}, {0.4F, views({"alerts", "samples", "runs"})}})}})}};
  return list;
}

std::vector<std::string> WorkspaceEntry::views() const {
  std::vector<std::string> all;
  add_views(dock, all);
  return all;
}

Shell::Shell(Context& context, bool keep_layouts) : context_(context), keep_layouts_(keep_layouts) {
  for (const ViewEntry& entry : view_entries()) {
    views_[entry.id] = entry.make();
    views_[entry.id]->add_commands(context.commands);
    context.commands.add({"view." + entry.id, "Go to " + entry.title, "View", 0, "G " + entry.key, nullptr, nullptr,
                          [id = entry.id](Context& target) { target.focus_view = id; },
                          static_cast<ImGuiKey>(ImGuiKey_A + (entry.key.front() - 'A'))});
  }
}

View* Shell::view(const std::string& id) {
  const auto found = views_.find(id);
  return found == views_.end() ? nullptr : found->second.get();
}

bool Shell::is_open(const std::string& id) {
  if (!only_view_.empty()) return id == only_view_;
  drawing_order();
  const auto extra = extra_views_.find(context_.workspace);
  return std::find(own_views_.begin(), own_views_.end(), id) != own_views_.end() || (extra != extra_views_.end() && extra->second.contains(id));
}

void Shell::enter(const std::string& workspace) {
  if (!entered_.empty() && only_view_.empty()) {
    save();
    kept_layouts_[entered_] = ImGui::SaveIniSettingsToMemory();
  }
  entered_ = context_.workspace = workspace;
  LoadedLayout loaded;
  if (const auto kept = kept_layouts_.find(workspace); kept != kept_layouts_.end()) {
    loaded.ini = kept->second;
  } else if (keep_layouts_ && only_view_.empty()) {
    loaded = load_layout(layout_file(workspace));
  }
  if (!loaded.notice.empty()) context_.notify(Notice::Level::warning, loaded.notice);
  default_wanted_ = !loaded.ini;
  if (loaded.ini) ImGui::LoadIniSettingsFromMemory(loaded.ini->data(), loaded.ini->size());
}

void Shell::prepare_frame() {
  const std::string wanted = std::exchange(context_.requested_workspace, "");
  if (entered_.empty()) {
    enter(wanted.empty() ? context_.workspace : wanted);
  } else if (!wanted.empty() && wanted != entered_) {
    only_view_.clear();
    enter(wanted);
  }
  if (std::exchange(context_.reset_layout_wanted, false)) default_wanted_ = true;
}

void Shell::save() {
  if (!keep_layouts_ || entered_.empty() || !only_view_.empty()) return;
  const std::string notice = save_layout(layout_file(entered_), ImGui::SaveIniSettingsToMemory());
  if (!notice.empty()) context_.notify(Notice::Level::warning, notice);
  ImGui::GetIO().WantSaveIniSettings = false;
}

void Shell::build_default(ImGuiID dock) {
  const ImVec2 size = ImGui::GetMainViewport()->Size;
  const float width = size.x / scale();
  ImGui::DockBuilderRemoveNode(dock);
  ImGui::DockBuilderAddNode(dock, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dock, {size.x, size.y - px(kTopBar + kStatusBar)});
  dock_area(only_view_.empty() ? fitted(workspace_named(entered_).dock, width) : views({only_view_}), dock);
  ImGui::DockBuilderFinish(dock);
}

void Shell::draw_dock_space(float top, float bottom) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  begin_bar("###shell.dock", top, viewport->Size.y - top - bottom);
  ImGui::SetCursorPos({0, 0});
  const ImGuiID dock = ImHashStr("ringwright.dock");
  if (std::exchange(default_wanted_, false)) build_default(dock);
  ImGui::PushStyleColor(ImGuiCol_Separator, color(Token::line));
  ImGui::DockSpace(dock, {viewport->Size.x, viewport->Size.y - top - bottom},
                   ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
  ImGui::PopStyleColor();
  ImGui::End();
}

// A view that this workspace does not have opens as a tab of its middle, and can be closed again.
void Shell::open_focused_view() {
  if (context_.focus_view.empty() || is_open(context_.focus_view)) return;
  only_view_.empty() ? void(extra_views_[context_.workspace].insert(context_.focus_view)) : show_only(context_.focus_view);
}

void Shell::draw_view(const ViewEntry& entry, View& view) {
  ImGui::SetNextWindowSize({px(700), px(460)}, ImGuiCond_FirstUseEver);
  ImGui::SetNextWindowSizeConstraints({100, 80}, {FLT_MAX, FLT_MAX});
  const bool extra = extra_views_[context_.workspace].contains(entry.id);
  if (extra) {
    const ImGuiDockNode* middle = ImGui::DockBuilderGetCentralNode(ImHashStr("ringwright.dock"));
    if (middle != nullptr) ImGui::SetNextWindowDockID(middle->ID, ImGuiCond_FirstUseEver);
  }
  if (context_.focus_view == entry.id) {
    ImGui::SetNextWindowFocus();
    context_.focus_view.clear();
  }
  const auto pinned = pinned_.find(entry.id);
  ShortText title("{}", entry.title);
  if (pinned != pinned_.end()) {
    const auto run = context_.state.find(pinned->second.run);
    // A tab's title ends at the first "##": a name that has it would not be seen whole.
    const bool nameable = run && !run->record.name.empty() && run->record.name.find("##") == std::string::npos;
    title.add(" (pinned: {})", nameable ? run->record.name : pinned->second.run);
  }
  title.add("###view.{}", entry.id);
  bool open = true;
  if (ImGui::Begin(title.c_str(), extra ? &open : nullptr, ImGuiWindowFlags_NoCollapse)) {
    if (ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows)) {
      context_.focus_filter = [&view] { view.focus_filter(); };
      context_.focused_view = entry.id;
    }
    if (pinned != pinned_.end()) std::swap(context_.selection, pinned->second);
    view.draw(context_);
    if (pinned != pinned_.end()) std::swap(context_.selection, pinned->second);
  }
  ImGui::End();
  if (!open) extra_views_[context_.workspace].erase(entry.id);
}

void Shell::toggle_pin() {
  const std::string id = std::exchange(context_.pin_toggled, "");
  if (id.empty()) return;
  if (pinned_.erase(id) == 0) pinned_[id] = context_.selection;
}

void Shell::draw_workspace_buttons() {
  for (const WorkspaceEntry& entry : workspaces()) {
    const bool active = context_.workspace == entry.id && only_view_.empty();
    const float title = text_width(entry.title, active ? Role::heading : Role::body);
    const float width = px(10) + title + px(10) + text_width(entry.shortcut, Role::axis) + px(8);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton(ShortText("###workspace.{}", entry.id).c_str(), {width, px(28)})) {
      context_.commands.run(fmt::format("workspace.{}", entry.id), context_);
    }
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (active || ImGui::IsItemHovered()) {
      const Token ground = active && theme().name == "light" ? Token::bg1 : Token::bg3;
      list->AddRectFilled(start, {start.x + width, start.y + px(28)}, color(ground), px(4));
    }
    const float middle = start.y + px(14);
    text_at(list, {start.x + px(10), middle - font_px(Role::body) / 2 - px(1)}, entry.title, active ? Role::heading : Role::body,
            color(active ? Token::text : Token::text2));
    text_at(list, {start.x + px(20) + title, middle - font_px(Role::axis) / 2}, entry.shortcut, Role::axis, color(Token::text3));
    ImGui::SameLine(0, px(4));
  }
}

void Shell::draw_command_box(float bar_width) {
  const float left = ImGui::GetCursorPosX() + px(16), right_reserved = px(400);
  const float width = std::min(px(440), bar_width - left - right_reserved);
  if (width < px(90)) return;
  const float centered = (bar_width - width) / 2;
  ImGui::SetCursorPosX(std::max(left, centered + width > bar_width - right_reserved ? left : centered));
  const ImVec2 start = ImGui::GetCursorScreenPos();
  if (ImGui::InvisibleButton("###palette.open", {width, px(28)})) context_.palette_wanted = true;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 end{start.x + width, start.y + px(28)};
  list->AddRectFilled(start, end, color(ImGui::IsItemHovered() ? Token::bg3 : Token::bg2), px(4));
  list->AddRect(start, end, color(Token::line), px(4), px(1));
  draw_icon(list, icons::magnify, {start.x + px(16), start.y + px(14)}, 16, color(Token::text2));
  const std::string& keys_text = context_.commands.find("palette.open")->keys;
  const float keys = text_width(keys_text, Role::axis);
  text_at(list, {start.x + px(32), start.y + px(14) - font_px(Role::body) / 2 - px(1)}, "Run a command, open a run", Role::body, color(Token::text2),
          width - keys - px(52));
  text_at(list, {end.x - keys - px(10), start.y + px(14) - font_px(Role::axis) / 2}, keys_text, Role::axis, color(Token::text3));
}

void Shell::draw_connection(float right, float height) {
  const Link& link = context_.state.link();
  const LinkLook look = link_look(link.state);
  const int64_t now = context_.source.now_unix_ns();
  const std::string place = link_place_text(link, now);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float middle = ImGui::GetWindowPos().y + height / 2;
  const float place_width = std::min(text_width(place, Role::axis), px(170)), word_width = text_width(look.word, Role::body);
  float x = right - place_width;
  text_at(list, {x, middle - font_px(Role::axis) / 2}, place, Role::axis, color(Token::text2), place_width + 1);
  x -= word_width + px(10);
  text_at(list, {x, middle - font_px(Role::body) / 2 - px(1)}, look.word, Role::body, color(Token::text));
  draw_icon(list, link_icon(link.state), {x - px(13), middle}, 15, color(look.token));
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect({x - px(21), middle - px(12)}, {right, middle + px(12)})) return;
  ImGui::BeginTooltip();
  for (const std::string& line : link_lines(link, now)) text(line, Role::label);
  ImGui::EndTooltip();
}

void Shell::draw_right_of_bar(float bar_width, float height) {
  const float scale_width = text_width("300%", Role::axis);
  float x = bar_width - px(12) - scale_width - px(28) - px(12) - px(48);
  draw_connection(ImGui::GetWindowPos().x + x - px(10), height);
  const int alerts = context_.alerts.open_count();
  ImGui::SetCursorPosX(x);
  const ShortText hint = alerts == 0
                             ? ShortText("Nothing needs you")
                             : ShortText("{} {}", alerts, alerts == 1 ? "alert is open: N goes to it" : "alerts are open: N goes to the next");
  if (icon_button("###alerts", icons::bell, alerts > 0 ? Token::warn : Token::text3, hint, height)) context_.commands.run("alerts.next", context_);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetWindowPos();
  if (alerts > 0)
    text_at(list, {origin.x + x + px(29), origin.y + height / 2 - font_px(Role::axis) / 2}, std::to_string(alerts), Role::axis, color(Token::text2));
  x += px(48);
  ImGui::SetCursorPosX(x);
  const bool dark = theme().name == "dark";
  if (icon_button("###theme.toggle", dark ? icons::moon : icons::sun, Token::text2, dark ? "Dark theme; F9 for light" : "Light theme; F9 for dark",
                  height)) {
    context_.commands.run("theme.toggle", context_);
  }
  const std::string percent = std::to_string(static_cast<int>(std::lround(scale() * 100))) + "%";
  text_at(list, {origin.x + bar_width - px(12) - text_width(percent, Role::axis), origin.y + height / 2 - font_px(Role::axis) / 2}, percent,
          Role::axis, color(Token::text2));
}

void Shell::draw_top_bar(float height) {
  begin_bar("###shell.top", 0, height);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetWindowPos();
  const float width = ImGui::GetWindowWidth();
  draw_brand_mark(list, {origin.x + px(24), origin.y + height / 2});
  text_at(list, {origin.x + px(42), origin.y + height / 2 - font_px(Role::brand) / 2 - px(1)}, "Ringwright", Role::brand, color(Token::text));
  ImGui::SetCursorPos({px(42) + text_width("Ringwright", Role::brand) + px(22), (height - px(28)) / 2});
  draw_workspace_buttons();
  draw_command_box(width);
  draw_right_of_bar(width, height);
  ImGui::End();
}

void Shell::draw_status_bar(float height) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  begin_bar("###shell.status", viewport->Size.y - height, height);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 origin = ImGui::GetWindowPos();
  const float width = ImGui::GetWindowWidth(), text_y = origin.y + height / 2 - font_px(Role::axis) / 2;
  const Link& link = context_.state.link();
  const auto count = [](double number) { return text::format_count(std::llround(number)); };
  ShortText right("seq {}", count(static_cast<double>(link.node_sequence)));
  if (link.last_message_unix_ns > 0) right.add("   {} ago", text::format_elapsed(context_.age_s(link.last_message_unix_ns)));
  if (link.gaps > 0) right.add("   {} missed, {} fetched", count(static_cast<double>(link.gaps)), count(static_cast<double>(link.repaired)));
  right.add("   {} ev/s   frame {} ms", count(context_.events_per_s), text::format_value(std::round(context_.frame_ms * 10) / 10));
  const float right_width = text_width(right, Role::axis);
  text_at(list, {origin.x + width - px(12) - right_width, text_y}, right, Role::axis, color(Token::text2));
  if (cli_line_ != context_.cli_line) cli_line_ = context_.cli_line, cli_line_here_ = context_.source.command_here(cli_line_);
  const std::string& line = cli_line_here_;
  draw_icon(list, icons::console, {origin.x + px(19), origin.y + height / 2}, 14, color(Token::text3));
  if (!line.empty()) {
    const float room = width - right_width - px(90), line_width = std::min(room, text_width(line, Role::axis));
    text_at(list, {origin.x + px(34), text_y}, line, Role::axis, color(Token::text2), room);
    ImGui::SetCursorPos({px(38) + line_width, 0});
    const ImVec2 start = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("###cli.copy", {px(24), height})) ImGui::SetClipboardText(line.c_str());
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("Copy the command line");
    draw_icon(list, icons::copy, {start.x + px(12), start.y + height / 2}, 14, color(ImGui::IsItemHovered() ? Token::text : Token::text3));
  }
  ImGui::End();
}

void Shell::draw_toasts(float bottom) {
  std::erase_if(context_.toasts, [&](const Toast& toast) { return !context_.still && toast.until_s < ImGui::GetTime(); });
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  float y = viewport->Pos.y + viewport->Size.y - bottom - px(12);
  int index = 0;
  bool undo = false;
  for (const Toast& toast : context_.toasts) {
    ImGui::SetNextWindowPos({viewport->Pos.x + viewport->Size.x - px(16), y}, ImGuiCond_Always, {1, 1});
    ImGui::SetNextWindowSizeConstraints({px(240), 0}, {px(460), FLT_MAX});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, px(6));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, px(1));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, color(Token::bg2));
    ImGui::Begin(("###toast." + std::to_string(index++)).c_str(), nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoDocking);
    icon(notice_icon(toast.notice.level), 16, color(notice_token(toast.notice.level)));
    ImGui::SameLine();
    ImGui::BeginGroup();
    ImGui::PushTextWrapPos(px(430));
    text(toast.notice.text, Role::label);
    if (!toast.notice.action.empty()) text(toast.notice.action, Role::hint, Token::text2);
    if (toast.count > 1) text("and " + std::to_string(toast.count - 1) + " more like it", Role::hint, Token::text2);
    if (&toast == context_.undoable()) undo = ImGui::SmallButton("Undo###toast.undo");
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    y -= ImGui::GetWindowHeight() + px(8);
    ImGui::End();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
  }
  if (undo) context_.commands.run("toast.undo", context_);
}

// Those of the workspace first; made anew when another is entered.
const std::vector<const ViewEntry*>& Shell::drawing_order() {
  if (ordered_for_ == context_.workspace) return order_;
  ordered_for_ = context_.workspace;
  own_views_ = workspace_named(context_.workspace).views();
  order_.clear();
  for (const std::string& id : own_views_)
    for (const ViewEntry& entry : view_entries())
      if (entry.id == id) order_.push_back(&entry);
  for (const ViewEntry& entry : view_entries())
    if (std::find(own_views_.begin(), own_views_.end(), entry.id) == own_views_.end()) order_.push_back(&entry);
  return order_;
}

void Shell::draw() {
  const float top = px(kTopBar), bottom = px(kStatusBar);
  context_.focus_filter = nullptr;
  if (!is_open(context_.focused_view)) context_.focused_view.clear();
  toggle_pin();
  open_focused_view();
  draw_top_bar(top);
  draw_dock_space(top, bottom);
  // Tabs stand in the order in which their windows are drawn first, and the first one is in front.
  for (const ViewEntry* entry : drawing_order())
    if (is_open(entry->id)) draw_view(*entry, *views_[entry->id]);
  context_.focus_view.clear();
  draw_status_bar(bottom);
  draw_toasts(bottom);
  palette_.draw(context_);
  recipe_dialogs_.draw(context_);
  draw_confirmation(context_);
  draw_prompt(context_);
  if (ImGui::GetIO().WantSaveIniSettings) save();
}

}  // namespace ringwright::gui

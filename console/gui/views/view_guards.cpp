#include "console/gui/views/view_guards.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "console/gui/recipe/workbench.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/views/guard_look.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

using support_matrix::Target;

struct TargetText {
  Target target;
  const char* name;
  const char* short_name;
};
// This engine first: it is the one that runs here.
constexpr std::array<TargetText, 3> kTargets = {
    {{Target::ringwright, "ringwright", "rw"}, {Target::automodel_0_6, "automodel-0.6", "0.6"}, {Target::automodel_0_4, "automodel-0.4", "0.4"}}};

constexpr float kRowPadding = 8, kTextInset = 34;

ImVec2 wrapped_size(const std::string& content, Role role, float width) {
  return font(role)->CalcTextSizeA(font_px(role), FLT_MAX, width, content.data(), content.data() + content.size());
}

float fix_height(const GuardRow& row) { return row.fix.empty() && row.changes.empty() ? 0 : px(30); }

float row_height(const GuardRow& row, float width) {
  const float words = wrapped_size(row.sentence, Role::label, width - px(kTextInset + kRowPadding)).y;
  return px(2 * kRowPadding) + px(22) + words + px(4) + (row.key.empty() ? 0 : px(20)) + fix_height(row);
}

std::string place_text(const Context& context, const GuardRow& row) {
  if (row.origin.line <= 0) return "";
  if (row.own_line) return fmt::format(":{}", row.origin.line);
  const std::filesystem::path file(row.origin.file);
  const bool is_parent = file != context.recipe.document().file();
  return fmt::format("{}:{}", is_parent ? file.filename().string() : "", row.origin.line);
}

std::string fix_label(const GuardRow& row) {
  if (row.changes.empty()) return "";
  if (row.changes.size() > 1) return fmt::format("make {} changes", row.changes.size());
  const support_matrix::Change& change = row.changes.front();
  if (change.removes) return "remove " + change.key;
  return change.key == row.key ? "set to " + change.value : "set " + change.key + " to " + change.value;
}

// What a fix would change, as lines of a difference.
void fix_preview(const Context& context, const GuardRow& row) {
  ImGui::BeginTooltip();
  const auto& lines = outline(context.recipe.document().text());
  for (const support_matrix::Change& change : row.changes) {
    const size_t line = line_of(lines, change.key);
    if (line != std::string::npos)
      text(fmt::format("- {}: {}", change.key, value_of(context.recipe.document().text(), lines[line])), Role::code, Token::error);
    if (!change.removes) text(fmt::format("+ {}: {}", change.key, change.value), Role::code, Token::ok);
  }
  if (row.changes_results) text("changes results: what is trained is not the same afterwards", Role::hint, Token::warn);
  ImGui::EndTooltip();
}

std::string check_line(const Context& context) {
  return fmt::format("ringwright check {} --target {}", recipe_argument(context),
                     support_matrix::kTargetNames[static_cast<size_t>(context.recipe.target())]);
}

}  // namespace

const GuardRow* ViewGuards::current_row(const Context& context) const {
  const auto& rows = context.recipe.guards().rows;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const GuardRow& row) { return row.id == current_; });
  return found == rows.end() ? nullptr : &*found;
}

void ViewGuards::move(Context& context, int by) {
  std::vector<const GuardRow*> rows;
  for (const GuardRow& row : context.recipe.guards().rows) {
    if (is_shown(row)) rows.push_back(&row);
  }
  if (rows.empty()) return;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const GuardRow* row) { return row->id == current_; });
  const int last = static_cast<int>(rows.size()) - 1;
  const int next = found == rows.end() ? 0 : std::clamp(static_cast<int>(found - rows.begin()) + by, 0, last);
  current_ = rows[static_cast<size_t>(next)]->id;
  context.selection.recipe_key = rows[static_cast<size_t>(next)]->key;
  scroll_wanted_ = true;
}

void ViewGuards::add_commands(CommandRegistry& registry) {
  using Refusal = std::function<std::optional<std::string>(const Context&)>;
  const auto add = [&](const char* id, const char* title, ImGuiKey key, const char* keys, Refusal refusal, std::function<void(Context&)> run) {
    registry.add({id, title, "Guards", key, keys, std::move(refusal), check_line, std::move(run), ImGuiKey_None, "guards"});
  };
  const auto has_rows = [](const Context& context) -> std::optional<std::string> {
    if (!context.recipe.is_open()) return "no recipe is open";
    return context.recipe.guards().rows.empty() ? std::optional<std::string>("no guard has anything to say") : std::nullopt;
  };
  const auto has_current = [this](const Context& context) -> std::optional<std::string> {
    return current_row(context) != nullptr ? std::nullopt : std::optional<std::string>("no row is selected (J, K)");
  };
  add("guards.next", "Next guard", ImGuiKey_J, "J", has_rows, [this](Context& context) { move(context, 1); });
  add("guards.previous", "Previous guard", ImGuiKey_K, "K", has_rows, [this](Context& context) { move(context, -1); });
  add("guards.jump", "Go to the key of this guard", ImGuiKey_Enter, "Enter", has_current, [this](Context& context) {
    context.selection.recipe_key = current_row(context)->key;
    context.recipe.jump_to(*current_row(context), true);
    context.focus_view = "launch";
  });
  registry.add({"guards.fix", "Make the change that this guard offers", "Guards", ImGuiKey_F, "F",
                [this](const Context& context) -> std::optional<std::string> {
                  const GuardRow* row = current_row(context);
                  if (row == nullptr) return "no row is selected (J, K)";
                  return row->changes.empty() ? std::optional<std::string>("this guard has no change to offer") : std::nullopt;
                },
                [this](const Context& context) {
                  const GuardRow* row = current_row(context);
                  return row == nullptr || row->changes.empty() ? std::string() : recipe_set_line(context, row->changes);
                },
                [this](Context& context) { context.recipe.apply_fix(*current_row(context)); }, ImGuiKey_None, "guards"});
  registry.add({"guards.model", "Choose the folder of the model", "Guards", 0, "",
                [](const Context& context) -> std::optional<std::string> {
                  return context.recipe.is_open() ? std::nullopt : std::optional<std::string>("no recipe is open");
                },
                check_line, [this](Context&) { model_wanted_ = !model_wanted_; }});
  for (size_t i = 0; i < kTargets.size(); ++i) {
    add((std::string("guards.target.") + kTargets[i].name).c_str(), (std::string("Guards of ") + kTargets[i].name).c_str(),
        static_cast<ImGuiKey>(ImGuiKey_1 + i), std::to_string(i + 1).c_str(), nullptr,
        [target = kTargets[i].target](Context& context) { context.recipe.choose_target(target); });
  }
}

void ViewGuards::draw_targets(Context& context) {
  const float gap = px(8), width = (ImGui::GetContentRegionAvail().x - 2 * gap) / 3, height = px(46);
  for (size_t i = 0; i < kTargets.size(); ++i) {
    if (i > 0) ImGui::SameLine(0, gap);
    const ImVec2 start = ImGui::GetCursorScreenPos(), end{start.x + width, start.y + height};
    const std::string id = std::string("guards.target.") + kTargets[i].name;
    if (ImGui::InvisibleButton(("###" + id).c_str(), {width, height})) context.commands.run(id, context);
    const std::string words = target_words(context.recipe.guards(kTargets[i].target));
    const bool chosen = context.recipe.target() == kTargets[i].target;
    const GuardState state = words.starts_with("refused") ? GuardState::refused : words.starts_with("not") ? GuardState::skipped : GuardState::passed;
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(start, end, color(chosen ? Token::sel : ImGui::IsItemHovered() ? Token::bg3 : Token::bg2), px(4));
    list->AddRect(start, end, color(chosen ? Token::accent : Token::line), px(4), px(1));
    draw_icon(list, *guard_look(state).icon, {start.x + px(15), start.y + px(15)}, 16, color(guard_look(state).token));
    text_at(list, {start.x + px(29), start.y + px(6)}, kTargets[i].name, Role::heading, color(Token::text), width - px(34));
    text_at(list, {start.x + px(29), start.y + px(25)}, words, Role::hint, color(Token::text2), width - px(34));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s: %s (key %zu)", kTargets[i].name, words.c_str(), i + 1);
  }
}

void ViewGuards::draw_chips(const GuardList& guards) {
  const float room = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorScreenPos().x;
  bool first = true;
  for (size_t i = 0; i < shown_.size(); ++i) {
    if (guards.counts[i] == 0) continue;
    const auto state = static_cast<GuardState>(i);
    const GuardLook& look = guard_look(state);
    const std::string label = fmt::format("{} {}", guards.counts[i], look.word);
    const float width = px(30) + text_width(label, Role::hint), height = px(22);
    if (!first && ImGui::GetItemRectMax().x + px(6) + width < left + room) ImGui::SameLine(0, px(6));
    first = false;
    const ImVec2 start = ImGui::GetCursorScreenPos(), end{start.x + width, start.y + height};
    if (ImGui::InvisibleButton(fmt::format("###guards.chip.{}", look.word).c_str(), {width, height})) shown_[i] = !shown_[i];
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (shown_[i] || ImGui::IsItemHovered()) list->AddRectFilled(start, end, color(Token::bg3), px(11));
    list->AddRect(start, end, color(shown_[i] ? look.token : Token::line), px(11), px(1));
    draw_icon(list, *look.icon, {start.x + px(13), start.y + height / 2}, 14, color(look.token));
    text_at(list, {start.x + px(23), start.y + (height - font_px(Role::hint)) / 2 - px(1)}, label, Role::hint,
            color(shown_[i] ? Token::text : Token::text2));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip(shown_[i] ? "Click to hide" : "Click to show");
  }
}

void ViewGuards::draw_row_text(const Context& context, const GuardRow& row, ImVec2 start, float width) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const GuardLook& look = guard_look(row.state);
  const float left = start.x + px(kTextInset), top = start.y + px(kRowPadding);
  draw_icon(list, *look.icon, {start.x + px(19), top + px(9)}, 17, color(look.token));
  text_at(list, {left, top}, row.code, Role::code, color(Token::text));
  float x = start.x + width - px(kRowPadding);
  for (size_t i = row.has_verdicts ? kTargets.size() : 0; i-- > 0;) {
    const GuardLook& verdict = guard_look(state_of(row.verdicts[static_cast<size_t>(kTargets[i].target)]));
    draw_icon(list, *verdict.icon, {x - px(7), top + px(9)}, 14, color(verdict.token));
    x -= px(18) + text_width(kTargets[i].short_name, Role::axis);
    text_at(list, {x, top + px(1)}, kTargets[i].short_name, Role::axis, color(Token::text2));
    x -= px(8);
  }
  const float wrap = width - px(kTextInset + kRowPadding);
  list->AddText(font(Role::label), font_px(Role::label), {std::round(left), std::round(top + px(22))}, color(Token::text), row.sentence.data(),
                row.sentence.data() + row.sentence.size(), wrap);
  if (row.key.empty()) return;
  const float key_y = top + px(26) + wrapped_size(row.sentence, Role::label, wrap).y;
  const std::string place = place_text(context, row);
  const float place_width = place.empty() ? 0 : text_width(place, Role::axis) + px(12);
  text_at(list, {left, key_y}, row.key, Role::axis, color(Token::accent), wrap - place_width);
  const float key_width = std::min(text_width(row.key, Role::axis), wrap - place_width);
  if (!place.empty()) text_at(list, {left + key_width + px(12), key_y}, place, Role::axis, color(Token::text2));
}

void ViewGuards::draw_fix(Context& context, const GuardRow& row, ImVec2 start) {
  ImGui::SetCursorScreenPos(start);
  const std::string label = fix_label(row);
  const float room = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - start.x - px(20);
  if (label.empty()) {
    text_at(ImGui::GetWindowDrawList(), {start.x, start.y + px(4)}, row.fix, Role::hint, color(Token::text2), room);
    return;
  }
  const bool is_current = row.id == current_;
  const std::string shown = text_width(label, Role::body) + px(16) > room ? "make this change" : label;
  if (button_or_reason((shown + "###guards.fix").c_str(), "", is_current)) {
    current_ = row.id;
    context.commands.run("guards.fix", context);
  }
  if (ImGui::IsItemHovered()) fix_preview(context, row);
  const char* hint = row.changes_results ? "changes results" : is_current ? "Enter jumps to the key   F fixes" : "";
  const float x = ImGui::GetItemRectMax().x + px(10);
  if (x + text_width(hint, Role::hint) < start.x + room)
    text_at(ImGui::GetWindowDrawList(), {x, start.y + px(5)}, hint, Role::hint, color(row.changes_results ? Token::warn : Token::text2));
}

void ViewGuards::draw_row(Context& context, const GuardRow& row) {
  ImGui::PushID(row.id.c_str());
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = row_height(row, width);
  ImGui::SetNextItemAllowOverlap();
  if (ImGui::InvisibleButton("###row", {width, height})) {
    current_ = row.id;
    context.selection.recipe_key = row.key;
    context.recipe.jump_to(row);
    context.cli_line = check_line(context);
  }
  const bool hovered = ImGui::IsItemHovered(), is_current = row.id == current_;
  const bool lit = is_current || (!row.key.empty() && row.key == context.selection.recipe_key);
  if (is_current && scroll_wanted_) ImGui::SetScrollHereY(0.5F), scroll_wanted_ = false;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 end{start.x + width, start.y + height};
  list->AddRectFilled(start, end, color(lit ? Token::sel : hovered ? Token::bg3 : Token::bg2), px(4));
  list->AddRectFilled(start, {start.x + px(4), end.y}, color(guard_look(row.state).token), px(2));
  draw_row_text(context, row, start, width);
  if (fix_height(row) > 0) draw_fix(context, row, {start.x + px(kTextInset), end.y - px(kRowPadding) - px(25)});
  ImGui::SetCursorScreenPos({start.x, end.y});
  ImGui::Dummy({width, px(4)});
  ImGui::PopID();
}

void ViewGuards::draw_skipped(Context& context, const GuardList& guards) {
  const int skipped = guards.counts[static_cast<size_t>(GuardState::skipped)];
  if (skipped == 0 || !shown_[static_cast<size_t>(GuardState::skipped)]) return;
  ImGui::Dummy({1, px(4)});
  text("Not checked yet", Role::heading);
  for (const GuardRow& row : guards.rows) {
    if (row.state == GuardState::skipped) draw_row(context, row);
  }
  const auto wants = std::count_if(guards.rows.begin(), guards.rows.end(), [](const GuardRow& row) { return row.wants_model; });
  if (wants == 0) return;
  if (ImGui::Button("Choose model folder...###guards.model")) context.commands.run("guards.model", context);
  ImGui::SameLine(0, px(10));
  text(fmt::format("runs {} of the {}", wants, skipped), Role::hint, Token::text2);
  if (!model_wanted_) return;
  ImGui::SetNextItemWidth(-1);
  const WithFont mono(Role::code);
  if (ImGui::InputTextWithHint("###guards.model.folder", "folder with config.json, then Enter", &model_folder_,
                               ImGuiInputTextFlags_EnterReturnsTrue)) {
    context.recipe.choose_model_folder(model_folder_);
    context.cli_line = check_line(context) + " --model " + text::shell_word(model_folder_);
    model_wanted_ = false;
  }
}

void ViewGuards::draw_rows(Context& context, const GuardList& guards) {
  for (const GuardRow& row : guards.rows) {
    if (row.state != GuardState::skipped && is_shown(row)) draw_row(context, row);
  }
  const bool speaks = std::any_of(guards.rows.begin(), guards.rows.end(), [](const GuardRow& row) { return row.state != GuardState::skipped; });
  const int passed = guards.counts[static_cast<size_t>(GuardState::passed)], skipped = guards.counts[static_cast<size_t>(GuardState::skipped)];
  if (!speaks && !context.recipe.loaded()->check_fault) {
    icon(icons::check_circle, 17, color(Token::ok));
    ImGui::SameLine(0, px(6));
    text(fmt::format("All {} rows pass; {} not checked", passed, skipped), Role::label);
  } else if (shown_[static_cast<size_t>(GuardState::passed)]) {
    text(fmt::format("{} rows of the matrix have nothing to say here: ringwright explain matrix", passed), Role::hint, Token::text2);
  }
  draw_skipped(context, guards);
}

void ViewGuards::draw(Context& context) {
  RecipeWorkbench& recipe = context.recipe;
  if (!recipe.is_open()) {
    if (empty_state("No recipe is open", "Open one, and this says whether it can run, and what to change if not.", "Open a recipe...###recipe.open"))
      context.commands.run("recipe.open", context);
    return;
  }
  draw_targets(context);
  if (recipe.is_checking()) {  // a thin line that something is under way; the old list stays
    const ImVec2 start = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled({start.x, start.y - px(2)}, {start.x + ImGui::GetContentRegionAvail().x, start.y},
                                              color(Token::accent));
  }
  if (!recipe.loaded()) {
    if (recipe.checked() && recipe.checked()->fault)
      error_state(*recipe.checked()->fault);
    else
      skeleton(6, px(60));
    return;
  }
  draw_chips(recipe.guards());
  if (recipe.checked()->fault)
    text(fmt::format("The text does not load (line {}): these are of the last one that did", recipe.checked()->fault_line), Role::hint, Token::warn);
  ImGui::Dummy({1, px(2)});
  if (ImGui::BeginChild("###guards.rows")) draw_rows(context, recipe.guards());
  ImGui::EndChild();
}

namespace {
const RegisterView registration({"guards", "Guards", "G", make_view<ViewGuards>});
}

}  // namespace ringwright::gui

#include "console/gui/views/view_launch.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>

#include "console/gui/recipe/workbench.h"
#include "console/gui/views/guard_look.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr float kBothFacesMin = 760;  // design pixels: from here on text and form stand side by side
constexpr float kFootHeight = 44, kBesideGap = 10;
constexpr float kWordsHeightMax = 76;  // five lines; more are scrolled to

std::string check_line(const Context& context) { return "ringwright check " + recipe_argument(context); }

std::optional<std::string> needs_recipe(const Context& context) {
  return context.recipe.is_open() ? std::nullopt : std::optional<std::string>("no recipe is open");
}

}  // namespace

void ViewLaunch::add_commands(CommandRegistry& registry) {
  registry.add({"launch.text", "Recipe as text", "Launch", 0, "", needs_recipe, nullptr, [this](Context&) { face_ = Face::text; }});
  registry.add({"launch.form", "Recipe as a form", "Launch", 0, "", needs_recipe, nullptr, [this](Context&) { face_ = Face::form; }});
  registry.add({"launch.complete", "Complete the word at the caret", "Launch", ImGuiMod_Ctrl | ImGuiKey_Space, "Ctrl+Space", needs_recipe, nullptr,
                [this](Context& context) {
                  face_ = Face::text;
                  if (!editor_.has_keys()) editor_.go_to(editor_.caret(), true);
                  editor_.open_completion();
                  context.focus_view = "launch";
                },
                ImGuiKey_None, "launch"});
}

void ViewLaunch::update_marks(Context& context) {
  RecipeWorkbench& recipe = context.recipe;
  const uint64_t version = recipe.document().version();
  if (marks_version_ == version && marks_checked_ == recipe.checked() && marks_target_ == recipe.target()) return;
  marks_version_ = version;
  marks_checked_ = recipe.checked();
  marks_target_ = recipe.target();
  marks_.clear();
  line_ends_.clear();
  const auto& lines = recipe.outline();
  const auto add = [&](size_t line, GuardState state, const std::string& words) {
    const auto same = std::find_if(marks_.begin(), marks_.end(), [&](const LineMark& mark) { return mark.line == line; });
    if (same == marks_.end()) {
      marks_.push_back({line, state, words});
    } else {
      same->state = std::min(same->state, state);
      same->text += "\n\n" + words;
    }
  };
  if (marks_checked_ && marks_checked_->fault && marks_checked_->fault_line > 0)
    add(std::min(lines.size(), static_cast<size_t>(marks_checked_->fault_line)) - 1, GuardState::refused, marks_checked_->fault->what);
  for (const GuardRow& row : recipe.guards().rows) {
    if (!row.own_line || row.state > GuardState::padded) continue;
    const size_t line = line_of(lines, row.key);  // lines move while the operator types, keys do not
    const size_t written = static_cast<size_t>(row.origin.line) - 1;
    if (line != std::string::npos || written < lines.size())
      add(line != std::string::npos ? line : written, row.state, row.code + "  " + row.sentence);
  }
  if (marks_checked_ && marks_checked_->version == version) line_ends_ = marks_checked_->line_ends;
}

void ViewLaunch::take_editor(Context& context, const EditorOutput& output) {
  RecipeWorkbench& recipe = context.recipe;
  recipe.editor_has_keys = editor_.has_keys();
  if (output.changed) recipe.change_text(editor_.text(), output.pasted ? EditOrigin::paste : EditOrigin::typing);
  if (output.changed || output.caret_moved) {
    const std::string key = key_at(recipe.outline(), editor_.caret());
    if (!key.empty()) context.selection.recipe_key = key;
  }
}

void ViewLaunch::draw_text(Context& context, ImVec2 size) {
  RecipeWorkbench& recipe = context.recipe;
  update_marks(context);
  if (const std::optional<Jump> jump = recipe.take_jump()) editor_.go_to(jump->offset, jump->focus);
  const std::string& text = recipe.document().text();
  take_editor(context,
              editor_.draw({recipe.document().version(), &text, &recipe.outline(), &marks_, &line_ends_, context.selection.recipe_key}, size));
}

bool ViewLaunch::draw_value(const FormField& field, const FieldValue& value, std::string& edited) {
  const std::string id = "###launch.field." + std::string(field.label);
  const float width = ImGui::GetContentRegionAvail().x;
  if (field.kind == FieldKind::words && !value.words.empty()) {
    const auto& words = value.words;
    int index = static_cast<int>(std::find(words.begin(), words.end(), value.value) - words.begin());
    const bool changed = choice(
        id.c_str(), "", value.value.empty() ? "-" : value.value, static_cast<int>(words.size()), [&](int i) { return words[static_cast<size_t>(i)]; },
        index, std::min(width / scale(), 132.0F));
    if (changed) edited = words[static_cast<size_t>(index)];
    return changed;
  }
  std::string& content = typed_.try_emplace(value.key, value.value).first->second;
  ImGui::SetNextItemWidth(std::min(width, px(132)));
  const WithFont mono(Role::code);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, color(Token::line));
  ImGui::InputText(id.c_str(), &content, ImGuiInputTextFlags_AutoSelectAll);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const bool done = ImGui::IsItemDeactivatedAfterEdit();
  if (done) edited = content;
  if (!ImGui::IsItemActive()) typed_.erase(value.key);
  return done && edited != value.value && !edited.empty();
}

void ViewLaunch::draw_field(Context& context, const FormField& field, float label_width) {
  const FieldValue value = field_value(field, *context.recipe.loaded());
  const float left = ImGui::GetCursorPosX();
  ImGui::AlignTextToFramePadding();
  const bool lit = value.key == context.selection.recipe_key;
  text(field.label, Role::label, lit ? Token::accent : Token::text2);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", value.key.c_str());
  ImGui::SameLine(left + label_width);
  std::string edited;
  if (draw_value(field, value, edited)) {
    context.cli_line = recipe_set_line(context, value.key, edited);
    context.recipe.set_key(value.key, edited, EditOrigin::form);
  }
  if (ImGui::IsItemActivated()) context.selection.recipe_key = value.key;
  if (value.origin.empty()) return;
  ImGui::SameLine(0, px(8));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  if (room > px(40)) text_at(ImGui::GetWindowDrawList(), {at.x, at.y + px(5)}, value.origin, Role::axis, color(Token::text3), room);
  ImGui::NewLine();
}

void ViewLaunch::draw_form(Context& context, ImVec2 size) {
  if (ImGui::BeginChild("###launch.form.fields", size)) {
    const auto& loaded = context.recipe.loaded();
    if (!loaded) {
      skeleton(8, px(28));
    } else {
      const bool frozen = context.recipe.checked()->fault.has_value();
      if (frozen) text("Frozen: the text does not load. These are the values of the last one that did.", Role::hint, Token::warn);
      ImGui::BeginDisabled(frozen);
      std::string_view section;
      for (const FormField& field : form_fields()) {
        if (field.section != section) {
          if (!section.empty()) ImGui::Dummy({1, px(4)});
          text(field.section, Role::heading);
        }
        section = field.section;
        draw_field(context, field, px(128));
      }
      ImGui::EndDisabled();
    }
  }
  ImGui::EndChild();
}

void ViewLaunch::draw_head(Context& context) {
  RecipeWorkbench& recipe = context.recipe;
  const float room = ImGui::GetContentRegionAvail().x;
  const std::string file = recipe.document().file().filename().string();
  const std::string shown = file + (recipe.document().is_dirty() ? " *" : "");
  const bool both = room >= px(kBothFacesMin);
  const float right = both ? 0 : px(108);
  const float name_width = std::max(px(40), std::min(text_width(shown, Role::code) + px(24), room - right - px(70)));
  {
    const WithFont mono(Role::code);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    if (ImGui::Button("###recipe.open", {name_width, 0})) context.commands.run("recipe.open", context);
    const float room_for_name = name_width - 2 * ImGui::GetStyle().FramePadding.x;
    const float left = (name_width - std::min(text_width(shown, Role::code), room_for_name)) / 2;
    text_at(ImGui::GetWindowDrawList(), {start.x + left, start.y + (ImGui::GetItemRectSize().y - font_px(Role::code)) / 2}, shown, Role::code,
            color(Token::text), room_for_name);
  }
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s%s", recipe.document().file().c_str(), recipe.document().is_dirty() ? "\nnot saved (Ctrl+S)" : "");
  const auto& rows = recipe.guards().rows;
  const auto fixes = std::count_if(
      rows.begin(), rows.end(), [](const GuardRow& row) { return row.state == GuardState::refused && !row.changes.empty() && !row.changes_results; });
  if (fixes > 0) {
    ImGui::SameLine(0, px(6));
    if (ImGui::Button(fmt::format("Fix {}###recipe.fix_all", fixes).c_str())) context.commands.run("recipe.fix_all", context);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("Make the safe changes of all guards (Shift+F)");
  }
  if (both) return;
  ImGui::SameLine(room - right + ImGui::GetStyle().WindowPadding.x);
  const auto tab = [&](const char* label, const char* command, Face face) {
    ImGui::PushStyleColor(ImGuiCol_Button, color(face_ == face ? Token::sel : Token::bg3));
    if (ImGui::Button((std::string(label) + "###" + command).c_str(), {px(52), 0})) context.commands.run(command, context);
    ImGui::PopStyleColor();
  };
  tab("Text", "launch.text", Face::text);
  ImGui::SameLine(0, px(4));
  tab("Form", "launch.form", Face::form);
}

// What stands in the way of a launch, or is not saved; "" when nothing is to be said.
std::string ViewLaunch::foot_words(const Context& context, const LaunchState& state) {
  const auto& checked = context.recipe.checked();
  if (checked && checked->fault)
    return checked->fault_line > 0 ? fmt::format("line {}:{}: {}", checked->fault_line, checked->fault_column, checked->fault->what)
                                   : checked->fault->what;
  if (state.reason.empty() && context.recipe.document().is_dirty()) return "not saved (Ctrl+S)";
  return state.reason;
}

void ViewLaunch::draw_button(Context& context, const LaunchState& state, const std::string& label) {
  if (state.refused) ImGui::PushStyleColor(ImGuiCol_Text, color(Token::error));
  if (button_or_reason((label + "###recipe.launch").c_str(), state.reason, !state.refused)) {
    if (state.refused) {
      context.recipe.choose_target(support_matrix::Target::ringwright);
      const GuardRow* first = context.recipe.guards().first_refused();
      if (first != nullptr) context.selection.recipe_key = first->key, context.recipe.jump_to(*first);
      context.focus_view = "guards";
      context.cli_line = check_line(context);
    } else {
      context.commands.run("recipe.launch", context);
    }
  }
  if (state.refused) ImGui::PopStyleColor();
}

// The words stand beside the button where they fit, else below it, in lines of the whole width.
ViewLaunch::Foot ViewLaunch::make_foot(const Context& context) {
  Foot foot{launch_state(context), "", "", true, px(kFootHeight)};
  const float room = ImGui::GetContentRegionAvail().x;
  foot.label = shortened(foot.state.label, room - 2 * ImGui::GetStyle().FramePadding.x, Role::body);
  foot.words = foot_words(context, foot.state);
  const float button = text_width(foot.label, Role::body) + 2 * ImGui::GetStyle().FramePadding.x;
  foot.beside = text_width(foot.words, Role::hint) <= room - button - px(kBesideGap);
  if (!foot.beside) foot.height += std::min(text_height(foot.words, Role::hint, room), px(kWordsHeightMax)) + px(4);
  return foot;
}

void ViewLaunch::draw_foot(Context& context, const Foot& foot) {
  ImGui::Dummy({1, px(2)});
  draw_button(context, foot.state, foot.label);
  if (foot.words.empty()) return;
  const auto& checked = context.recipe.checked();
  const Token ink = checked && checked->fault ? Token::error : Token::text2;
  if (foot.beside) {
    ImGui::SameLine(0, px(kBesideGap));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    text_at(ImGui::GetWindowDrawList(), {at.x, at.y + px(5)}, foot.words, Role::hint, color(ink));
    ImGui::Dummy({text_width(foot.words, Role::hint), ImGui::GetFrameHeight()});
    return;
  }
  if (ImGui::BeginChild("###launch.words")) {
    ImGui::PushTextWrapPos(0);
    text(foot.words, Role::hint, ink);
    ImGui::PopTextWrapPos();
  }
  ImGui::EndChild();
}

void ViewLaunch::draw(Context& context) {
  context.recipe.editor_has_keys = false;
  if (!context.recipe.is_open()) {
    if (empty_state("No recipe is open", "Drop a recipe on the window, or open one of the samples.", "Open a recipe...###recipe.open"))
      context.commands.run("recipe.open", context);
    return;
  }
  draw_head(context);
  const Foot foot = make_foot(context);
  const float width = ImGui::GetContentRegionAvail().x, height = std::max(px(80), ImGui::GetContentRegionAvail().y - foot.height);
  if (width >= px(kBothFacesMin)) {
    draw_text(context, {width - px(400), height});
    ImGui::SameLine(0, px(12));
    draw_form(context, {0, height});
  } else if (face_ == Face::text) {
    draw_text(context, {0, height});
  } else {
    draw_form(context, {0, height});
  }
  draw_foot(context, foot);
}

namespace {
const RegisterView registration({"launch", "Launch", "U", make_view<ViewLaunch>});
}

}  // namespace ringwright::gui

#include "console/gui/widgets/recipe_editor.h"

#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "console/gui/services/style.h"
#include "console/gui/views/guard_look.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr const char* kField = "###launch.text";
constexpr float kEditorFont = 13.5F;
constexpr int kCompletionRows = 10;

ImFont* editor_font() { return font(Role::code); }
float editor_px() { return std::round(px(kEditorFont)); }

float width_of(std::string_view content) {
  return editor_font()->CalcTextSizeA(editor_px(), FLT_MAX, 0, content.data(), content.data() + content.size()).x;
}

void draw_words(ImDrawList* list, ImVec2 place, std::string_view content, ImU32 ink) {
  if (!content.empty()) list->AddText(editor_font(), editor_px(), place, ink, content.data(), content.data() + content.size());
}

}  // namespace

void RecipeEditor::go_to(size_t offset, bool focus) {
  caret_wanted_ = offset;
  if (!active_) caret_ = offset;
  scroll_wanted_ = true;
  focus_wanted_ = focus_wanted_ || focus;
}

int RecipeEditor::on_callback(ImGuiInputTextCallbackData* data) {
  auto& editor = *static_cast<RecipeEditor*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    editor.buffer_.resize(static_cast<size_t>(data->BufTextLen));
    data->Buf = editor.buffer_.data();
  } else {
    editor.take_callback(*data);
  }
  return 0;
}

// A new line begins where the one before it does; behind a key without a value, two columns further.
void RecipeEditor::indent_new_line(ImGuiInputTextCallbackData& data) const {
  const int at = data.CursorPos;
  if (data.BufTextLen != static_cast<int>(last_length_) + 1 || at < 1 || data.Buf[at - 1] != '\n') return;
  int start = at - 1;
  while (start > 0 && data.Buf[start - 1] != '\n') --start;
  int indent = 0;
  while (start + indent < at - 1 && data.Buf[start + indent] == ' ') ++indent;
  if (at >= 2 && data.Buf[at - 2] == ':') indent += 2;
  if (indent > 0) data.InsertChars(at, std::string(static_cast<size_t>(indent), ' ').c_str());
}

void RecipeEditor::take_callback(ImGuiInputTextCallbackData& data) {
  if (data.EventFlag == ImGuiInputTextFlags_CallbackEdit) {
    indent_new_line(data);
    last_length_ = static_cast<size_t>(data.BufTextLen);
    return;
  }
  if (replacement_ && replacement_->to <= static_cast<size_t>(data.BufTextLen)) {
    data.DeleteChars(static_cast<int>(replacement_->from), static_cast<int>(replacement_->to - replacement_->from));
    data.InsertChars(static_cast<int>(replacement_->from), replacement_->text.c_str());
  }
  replacement_.reset();
  if (caret_wanted_) {
    data.CursorPos = data.SelectionStart = data.SelectionEnd = static_cast<int>(std::min(*caret_wanted_, static_cast<size_t>(data.BufTextLen)));
    caret_wanted_.reset();
  }
  caret_ = static_cast<size_t>(data.CursorPos);
  last_length_ = static_cast<size_t>(data.BufTextLen);
}

void RecipeEditor::draw_gutter(const EditorInput& input, ImVec2 start, float width, float line_height) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = ImGui::GetWindowPos().y, bottom = top + ImGui::GetWindowHeight();
  const size_t current = line_at(*input.lines, caret_);
  for (size_t i = 0; i < input.lines->size(); ++i) {
    const float y = start.y + static_cast<float>(i) * line_height;
    if (y + line_height < top || y > bottom) continue;
    const std::string number = std::to_string(i + 1);
    text_at(list, {start.x + width - px(26) - text_width(number, Role::axis), y + (line_height - font_px(Role::axis)) / 2 - px(1)}, number,
            Role::axis, color(i == current && active_ ? Token::text : Token::text3));
  }
  for (const LineMark& mark : *input.marks) {
    const ImVec2 middle{start.x + width - px(14), start.y + (static_cast<float>(mark.line) + 0.5F) * line_height};
    if (middle.y < top || middle.y > bottom) continue;
    const GuardLook& look = guard_look(mark.state);
    draw_icon(list, *look.icon, middle, 15, color(look.token));
    if (ImGui::IsMouseHoveringRect({start.x, middle.y - line_height / 2}, {start.x + width, middle.y + line_height / 2}) &&
        ImGui::IsWindowHovered()) {
      ImGui::BeginTooltip();
      ImGui::PushTextWrapPos(px(420));
      gui::text(mark.text, Role::label);
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
    }
  }
}

void RecipeEditor::draw_line(const EditorInput& input, size_t index, ImVec2 place) const {
  const OutlineLine& line = (*input.lines)[index];
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::string_view all(buffer_);
  if (line.end > all.size()) return;
  const auto part = [&](size_t from, size_t to, Token ink) {
    if (from >= to) return;
    const float x = place.x + width_of(all.substr(line.begin, from - line.begin));
    draw_words(list, {x, place.y}, all.substr(from, to - from), color(ink));
  };
  const bool is_section = line.key_begin < line.key_end && line.value_begin >= line.value_end;
  part(line.begin, line.key_begin < line.key_end ? line.key_begin : line.value_begin, Token::text2);
  if (line.key_begin < line.key_end) {
    part(line.key_begin, line.key_end, is_section ? Token::accent : Token::text2);
    part(line.key_end, std::max(line.key_end, std::min(line.value_begin, line.end)), Token::text3);
  }
  part(line.value_begin, line.value_end, Token::text);
  part(std::max(line.value_end, std::min(line.comment_begin, line.end)), line.end, Token::text3);
}

void RecipeEditor::draw_underline(const EditorInput& input, const LineMark& mark, ImVec2 text_start, float line_height) const {
  if (mark.line >= input.lines->size()) return;
  const OutlineLine& line = (*input.lines)[mark.line];
  const size_t from = line.key_begin < line.key_end ? line.key_begin : line.value_begin;
  const size_t to = std::max({line.key_end, line.value_end, from});
  if (to > buffer_.size() || from >= to) return;
  const std::string_view all(buffer_);
  const float left = text_start.x + width_of(all.substr(line.begin, from - line.begin)), right = left + width_of(all.substr(from, to - from));
  const float y = text_start.y + static_cast<float>(mark.line + 1) * line_height - px(2);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = color(guard_look(mark.state).token);
  if (mark.state != GuardState::refused && mark.state != GuardState::warning) {
    list->AddLine({left, y}, {right, y}, ink, px(1));
    return;
  }
  const float step = px(3);
  bool up = false;
  for (float x = left; x < right; x += step, up = !up)
    list->AddLine({x, y + (up ? -px(1.5F) : px(1))}, {std::min(x + step, right), y + (up ? px(1) : -px(1.5F))}, ink, px(1));
}

void RecipeEditor::draw_text(const EditorInput& input, ImVec2 start, float line_height) const {
  const float top = ImGui::GetWindowPos().y, bottom = top + ImGui::GetWindowHeight();
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - px(16);
  const size_t lit = input.current_key.empty() ? std::string::npos : line_of(*input.lines, input.current_key);
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (size_t i = 0; i < input.lines->size(); ++i) {
    const float y = start.y + static_cast<float>(i) * line_height;
    if (y + line_height < top || y > bottom) continue;
    if (i == lit) list->AddRectFilled({start.x - px(4), y}, {right + px(16), y + line_height}, color(Token::sel));
    draw_line(input, i, {start.x, y});
    if (i >= input.line_ends->size() || (*input.line_ends)[i].empty()) continue;
    const OutlineLine& line = (*input.lines)[i];
    const float text_end = start.x + width_of(std::string_view(buffer_).substr(line.begin, line.end - line.begin)) + px(16);
    const std::string& words = (*input.line_ends)[i];
    const float room = right - text_end, width = std::min(text_width(words, Role::axis), room);
    if (room > px(48))
      text_at(list, {right - width, y + (line_height - font_px(Role::axis)) / 2 - px(1)}, words, Role::axis, color(Token::text3), room);
  }
  for (const LineMark& mark : *input.marks) draw_underline(input, mark, start, line_height);
}

// While completions are shown, these keys are theirs and not the field's.
void RecipeEditor::lock_completion_keys() {
  const ImGuiID owner = ImGui::GetID("###launch.completion");
  for (const ImGuiKey key : {ImGuiKey_DownArrow, ImGuiKey_UpArrow, ImGuiKey_Enter, ImGuiKey_KeypadEnter, ImGuiKey_Tab, ImGuiKey_Escape})
    ImGui::SetKeyOwner(key, owner, ImGuiInputFlags_LockThisFrame);
  const auto pressed = [owner](ImGuiKey key) { return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner); };
  const int count = static_cast<int>(completion_.items.size());
  if (pressed(ImGuiKey_DownArrow)) completion_index_ = (completion_index_ + 1) % std::max(1, count);
  if (pressed(ImGuiKey_UpArrow)) completion_index_ = (completion_index_ + count - 1) % std::max(1, count);
  if (pressed(ImGuiKey_Escape)) completion_open_ = false;
  if ((pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter) || pressed(ImGuiKey_Tab)) && completion_index_ < count) {
    replacement_ = Replacement{completion_.from, completion_.to, completion_.items[static_cast<size_t>(completion_index_)].insert};
    completion_open_ = false;
  }
}

void RecipeEditor::draw_completion(const std::vector<OutlineLine>& lines, ImVec2 text_start, float line_height) {
  if (!completion_open_) return;
  completion_ = completions(buffer_, lines, std::min(caret_, buffer_.size()));
  if (completion_.items.empty() || !active_) {
    completion_open_ = false;
    return;
  }
  const int count = static_cast<int>(completion_.items.size());
  completion_index_ = std::clamp(completion_index_, 0, count - 1);
  const size_t line = line_at(lines, completion_.from);
  const OutlineLine& at = lines[line];
  const float x = text_start.x + width_of(std::string_view(buffer_).substr(at.begin, completion_.from - at.begin));
  const float y = text_start.y + static_cast<float>(line + 1) * line_height + px(2);
  const float row = px(23), width = px(420), height = row * static_cast<float>(std::min(count, kCompletionRows)) + px(8);
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  const ImVec2 low{std::min(x, viewport->Size.x - width - px(8)), y + height > viewport->Size.y ? y - height - line_height - px(4) : y};
  ImDrawList* list = ImGui::GetForegroundDrawList();
  list->AddRectFilled(low, {low.x + width, low.y + height}, color(Token::bg2), px(6));
  list->AddRect(low, {low.x + width, low.y + height}, color(Token::line2), px(6), px(1));
  const int first = std::clamp(completion_index_ - kCompletionRows / 2, 0, std::max(0, count - kCompletionRows));
  for (int i = first; i < std::min(count, first + kCompletionRows); ++i) {
    const Completion& item = completion_.items[static_cast<size_t>(i)];
    const ImVec2 place{low.x + px(4), low.y + px(4) + row * static_cast<float>(i - first)};
    if (i == completion_index_) list->AddRectFilled(place, {low.x + width - px(4), place.y + row}, color(Token::sel), px(4));
    text_at(list, {place.x + px(6), place.y + px(3)}, item.name, Role::code, color(Token::text), px(220));
    const float name = std::min(text_width(item.name, Role::code), px(220)) + px(18);
    text_at(list, {place.x + name, place.y + px(4)}, item.detail, Role::hint, color(Token::text2), width - name - px(16));
  }
}

void RecipeEditor::scroll_to_caret(const EditorInput& input, float line_height) {
  if (!scroll_wanted_) return;
  scroll_wanted_ = false;
  const float y = static_cast<float>(line_at(*input.lines, caret_)) * line_height;
  const float view = ImGui::GetWindowHeight(), scroll = ImGui::GetScrollY();
  if (y < scroll + line_height || y > scroll + view - 3 * line_height) ImGui::SetScrollY(std::max(0.0F, y - view / 3));
}

EditorOutput RecipeEditor::draw(const EditorInput& input, ImVec2 size) {
  EditorOutput output;
  if (version_ != input.version) {
    if (buffer_ != *input.text) {
      buffer_ = *input.text;
      if (active_)
        if (ImGuiInputTextState* state = ImGui::GetInputTextState(ImGui::GetActiveID())) state->ReloadUserBufAndKeepSelection();
      caret_ = std::min(caret_, buffer_.size());
    }
    version_ = input.version;
  }
  ImGui::PushStyleColor(ImGuiCol_ChildBg, color(Token::bg2));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  const bool visible = ImGui::BeginChild("###launch.editor", size, 0, ImGuiWindowFlags_HorizontalScrollbar);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  if (visible) {
    const float gutter = px(34) + text_width("0000", Role::axis);
    ImGui::PushFont(editor_font(), editor_px());
    const float line_height = ImGui::GetTextLineHeight();
    float widest = px(120);
    for (const OutlineLine& line : *input.lines) widest = std::max(widest, static_cast<float>(line.end - line.begin) * width_of("0"));
    scroll_to_caret(input, line_height);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 text_start{start.x + gutter, start.y + px(4)};
    draw_text(input, text_start, line_height);
    if (completion_open_ && active_) lock_completion_keys();
    ImGui::SetCursorScreenPos({start.x + gutter, start.y});
    if (std::exchange(focus_wanted_, false)) ImGui::SetKeyboardFocusHere();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {0, px(4)});
    ImGui::PushStyleColor(ImGuiCol_FrameBg, IM_COL32_BLACK_TRANS);
    ImGui::PushStyleColor(ImGuiCol_Text, IM_COL32_BLACK_TRANS);
    ImGui::PushStyleColor(ImGuiCol_InputTextCursor, color(Token::text));
    ImGui::PushStyleColor(ImGuiCol_NavCursor, IM_COL32_BLACK_TRANS);
    const size_t caret_before = caret_, length_before = buffer_.size();
    const bool was_active = active_;
    const float room = ImGui::GetWindowWidth() - gutter - px(14);
    const float height = std::max(static_cast<float>(input.lines->size()) * line_height + px(12), ImGui::GetWindowHeight() - px(4));
    constexpr auto kFlags = ImGuiInputTextFlags_NoUndoRedo | ImGuiInputTextFlags_CallbackAlways | ImGuiInputTextFlags_CallbackEdit |
                            ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_NoHorizontalScroll;
    output.changed = ImGui::InputTextMultiline(kField, buffer_.data(), buffer_.capacity() + 1, {std::max(room, widest + px(40)), height}, kFlags,
                                               on_callback, this);
    active_ = ImGui::IsItemActive();
    ImGui::PopStyleColor(4);
    ImGui::PopStyleVar();
    if (active_ && ImGui::IsKeyPressed(ImGuiKey_Tab) && !completion_open_) replacement_ = Replacement{caret_, caret_, "  "};
    if (active_ && std::exchange(completion_wanted_, false)) completion_open_ = true, completion_index_ = 0;
    output.caret_moved = active_ && (caret_ != caret_before || !was_active);
    if (active_ && caret_ != caret_before) scroll_wanted_ = true;
    output.pasted = output.changed && buffer_.size() > length_before + 8;
    draw_gutter(input, {start.x, text_start.y}, gutter, line_height);
    ImGui::PopFont();
    // The field may have changed the text since its lines were found.
    const std::vector<OutlineLine> lines_now = output.changed && completion_open_ ? outline(buffer_) : std::vector<OutlineLine>();
    draw_completion(lines_now.empty() ? *input.lines : lines_now, text_start, line_height);
  }
  ImGui::EndChild();
  return output;
}

}  // namespace ringwright::gui

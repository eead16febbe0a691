#include "tests/console/gui/inspect/drawn_items.h"

namespace ringwright::gui {
namespace {

ItemRecording* recording = nullptr;

// The test engine takes its hooks away in each frame in which it looks for nothing.
void keep_hooks(ImGuiContext* context, ImGuiContextHook*) { context->TestEngineHookItems = true; }

bool note_button(const char* label, bool pressed) {
  if (recording == nullptr) return pressed;
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  recording->add(
      DrawnButton{label, context.LastItemData.Rect, context.CurrentWindow, (context.LastItemData.ItemFlags & ImGuiItemFlags_Disabled) != 0});
  return pressed;
}

}  // namespace

ItemRecording::ItemRecording() {
  recording = this;
  ImGuiContextHook hook;
  hook.Type = ImGuiContextHookType_NewFramePost;
  hook.Callback = keep_hooks;
  hook_ = ImGui::AddContextHook(ImGui::GetCurrentContext(), &hook);
}

ItemRecording::~ItemRecording() {
  recording = nullptr;
  ImGui::RemoveContextHook(ImGui::GetCurrentContext(), hook_);
}

std::string ItemRecording::label_of(ImGuiID id) const {
  for (const auto& [item, label] : labels_) {
    if (item == id) return label;
  }
  return "";
}

std::string id_in_label(const std::string& label) {
  const size_t at = label.find("###");
  return at == std::string::npos ? "" : label.substr(at + 3);
}

void record_item(ImGuiContext* context, ImGuiID id, const ImRect& place) {
  if (recording != nullptr) recording->add(DrawnItem{id, place, context->CurrentWindow});
}

void record_label(ImGuiID id, const char* label) {
  if (recording != nullptr && label != nullptr) recording->note_label(id, label);
}

bool record_button(const char* label, bool pressed) { return note_button(label, pressed); }

}  // namespace ringwright::gui

// What the linker puts in the place of ImGui's functions (--wrap), and what they were before.
extern "C" {
void real_item_add(ImGuiContext*, ImGuiID, const ImRect&,
                   const ImGuiLastItemData*) asm("__real__Z27ImGuiTestEngineHook_ItemAddP12ImGuiContextjRK6ImRectPK17ImGuiLastItemData");
void item_add(ImGuiContext*, ImGuiID, const ImRect&,
              const ImGuiLastItemData*) asm("__wrap__Z27ImGuiTestEngineHook_ItemAddP12ImGuiContextjRK6ImRectPK17ImGuiLastItemData");
void real_item_info(ImGuiContext*, ImGuiID, const char*, int) asm("__real__Z28ImGuiTestEngineHook_ItemInfoP12ImGuiContextjPKci");
void item_info(ImGuiContext*, ImGuiID, const char*, int) asm("__wrap__Z28ImGuiTestEngineHook_ItemInfoP12ImGuiContextjPKci");
bool real_button(const char*, const ImVec2&) asm("__real__ZN5ImGui6ButtonEPKcRK6ImVec2");
bool button(const char*, const ImVec2&) asm("__wrap__ZN5ImGui6ButtonEPKcRK6ImVec2");
bool real_small_button(const char*) asm("__real__ZN5ImGui11SmallButtonEPKc");
bool small_button(const char*) asm("__wrap__ZN5ImGui11SmallButtonEPKc");
bool real_menu_item(const char*, const char*, bool, bool) asm("__real__ZN5ImGui8MenuItemEPKcS1_bb");
bool menu_item(const char*, const char*, bool, bool) asm("__wrap__ZN5ImGui8MenuItemEPKcS1_bb");

void item_add(ImGuiContext* context, ImGuiID id, const ImRect& place, const ImGuiLastItemData* data) {
  ringwright::gui::record_item(context, id, place);
  real_item_add(context, id, place, data);
}
void item_info(ImGuiContext* context, ImGuiID id, const char* label, int flags) {
  ringwright::gui::record_label(id, label);
  real_item_info(context, id, label, flags);
}
bool button(const char* label, const ImVec2& size) { return ringwright::gui::record_button(label, real_button(label, size)); }
bool small_button(const char* label) { return ringwright::gui::record_button(label, real_small_button(label)); }
bool menu_item(const char* label, const char* keys, bool selected, bool enabled) {
  return ringwright::gui::record_button(label, real_menu_item(label, keys, selected, enabled));
}
}

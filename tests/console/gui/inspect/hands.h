// Keyboard and mouse of a console without a window: events go to ImGui, frames are drawn by the caller.
#pragma once

#include <imgui.h>

#include <string>

namespace ringwright::gui::hands {

inline void set_mods(ImGuiKeyChord chord, bool down) {
  for (const ImGuiKey mod : {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt, ImGuiMod_Super}) {
    if ((chord & mod) != 0) ImGui::GetIO().AddKeyEvent(mod, down);
  }
}

inline ImGuiKey key_of(ImGuiKeyChord chord) { return static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_); }

// Down, a frame, up, a frame; `frame` draws one.
template <class Frame>
void press(ImGuiKeyChord chord, Frame frame) {
  set_mods(chord, true);
  ImGui::GetIO().AddKeyEvent(key_of(chord), true);
  frame();
  ImGui::GetIO().AddKeyEvent(key_of(chord), false);
  set_mods(chord, false);
  frame();
}

template <class Frame>
void type(const std::string& words, Frame frame) {
  ImGui::GetIO().AddInputCharactersUTF8(words.c_str());
  frame();
  frame();
}

template <class Frame>
void click(ImVec2 place, Frame frame) {
  ImGui::GetIO().AddMousePosEvent(place.x, place.y);
  frame();
  frame();
  ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  frame();
  ImGui::GetIO().AddMouseButtonEvent(ImGuiMouseButton_Left, false);
  frame();
}

}  // namespace ringwright::gui::hands

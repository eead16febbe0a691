// Every text that a frame draws, as it went to the draw lists: by ImGui, by ImPlot and by the console itself. The program is linked with
// --wrap for ImDrawList::AddText, so nothing can be drawn past it.
#pragma once

#include <imgui.h>
#include <imgui_internal.h>

#include <string>
#include <vector>

namespace ringwright::gui {

struct DrawnText {
  std::string text;
  ImRect place;    // as laid out
  ImRect visible;  // of it, within the clip rectangle
  ImU32 ink;
  ImFont* font;
  float size_px;
  const ImDrawList* list;
  const ImGuiWindow* window;
  bool in_field;              // the content of a text field, which scrolls under its frame
  bool scrolls_x, scrolls_y;  // its window, or one around it, has a scroll bar this way
};

// While it lives, no text gets into a draw list: what is left is the ground of the texts.
class TextMute {
 public:
  TextMute();
  ~TextMute();
  TextMute(const TextMute&) = delete;
  TextMute& operator=(const TextMute&) = delete;
};

// Records the texts of the frames that are drawn while it lives.
class TextRecording {
 public:
  TextRecording();
  ~TextRecording();
  TextRecording(const TextRecording&) = delete;
  TextRecording& operator=(const TextRecording&) = delete;
  const std::vector<DrawnText>& texts() const { return texts_; }

 private:
  friend void record_text(ImDrawList* list, ImFont* font, float size, ImVec2 place, ImU32 ink, const char* begin, const char* end, float wrap,
                          const ImVec4* clip);
  std::vector<DrawnText> texts_;
};

}  // namespace ringwright::gui

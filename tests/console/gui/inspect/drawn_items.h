// Every item that a frame has: its id, its place, and for buttons and menu entries the label. The program is linked with --wrap for the hooks
// of ImGui's test engine and for ImGui::Button and its like.
#pragma once

#include <imgui.h>
#include <imgui_internal.h>

#include <string>
#include <vector>

namespace ringwright::gui {

struct DrawnItem {
  ImGuiID id;
  ImRect place;
  const ImGuiWindow* window;
};

struct DrawnButton {
  std::string label;  // with its ###id
  ImRect place;
  const ImGuiWindow* window;
  bool disabled;
};

// Records what the frames that are drawn while it lives consist of.
class ItemRecording {
 public:
  ItemRecording();
  ~ItemRecording();
  ItemRecording(const ItemRecording&) = delete;
  ItemRecording& operator=(const ItemRecording&) = delete;
  void add(DrawnItem item) { items_.push_back(item); }
  void add(DrawnButton button) { buttons_.push_back(std::move(button)); }
  const std::vector<DrawnItem>& items() const { return items_; }
  const std::vector<DrawnButton>& buttons() const { return buttons_; }
  // The label that goes with an item's id, "" when it has told none.
  std::string label_of(ImGuiID id) const;
  void note_label(ImGuiID id, const char* label) { labels_.emplace_back(id, label); }

 private:
  ImGuiID hook_;
  std::vector<DrawnItem> items_;
  std::vector<DrawnButton> buttons_;
  std::vector<std::pair<ImGuiID, std::string>> labels_;
};

// "runs.stop" of "Stop###runs.stop"; "" without one.
std::string id_in_label(const std::string& label);

}  // namespace ringwright::gui

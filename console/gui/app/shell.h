// The frame around the views: top bar, dock space with four workspaces, status bar, toasts.
#pragma once

#include <imgui.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "console/gui/services/command_palette.h"
#include "console/gui/services/context.h"
#include "console/gui/services/recipe_dialogs.h"
#include "console/gui/views/view.h"

namespace ringwright::gui {

// A part of the window: views as tabs, or smaller areas beside or above each other.
struct DockArea {
  float share = 1;  // of the area that it lies in
  std::vector<std::string> views = {};
  bool side_by_side = false;
  std::vector<DockArea> parts = {};
};

// A workspace and where its views are docked at first. Views that this build does not have are left out.
struct WorkspaceEntry {
  const char* id;
  const char* title;
  const char* shortcut;
  DockArea dock;
  std::vector<std::string> views() const;
};
const std::vector<WorkspaceEntry>& workspaces();

class Shell {
 public:
  // `keep_layouts`: layouts are read from and written to the user's folder.
  Shell(Context& context, bool keep_layouts);

  // Before ImGui's NewFrame: switching workspaces loads another layout.
  void prepare_frame();
  void draw();
  // Saves the layout of the current workspace if it has changed.
  void save();
  // Shows one view alone over the whole dock area ("" = the workspace).
  void show_only(const std::string& view) { only_view_ = view, default_wanted_ = true; }
  View* view(const std::string& id);

 private:
  void draw_top_bar(float height);
  void draw_workspace_buttons();
  void draw_command_box(float bar_width);
  void draw_right_of_bar(float bar_width, float height);
  void draw_connection(float right, float height);
  void draw_status_bar(float height);
  void draw_dock_space(float top, float bottom);
  void open_focused_view();
  void toggle_pin();
  void draw_view(const ViewEntry& entry, View& view);
  void draw_toasts(float bottom);
  void build_default(ImGuiID dock);
  void enter(const std::string& workspace);
  bool is_open(const std::string& view);
  const std::vector<const ViewEntry*>& drawing_order();

  Context& context_;
  const bool keep_layouts_;
  CommandPalette palette_;
  RecipeDialogs recipe_dialogs_;
  std::map<std::string, std::unique_ptr<View>> views_;
  std::map<std::string, std::string> kept_layouts_;           // by workspace, of this session
  std::string entered_;                                       // workspace whose layout is loaded
  std::map<std::string, std::set<std::string>> extra_views_;  // by workspace: opened beside its own
  std::map<std::string, Selection> pinned_;                   // by view
  std::string only_view_;
  std::string ordered_for_;  // workspace that the next two are of
  std::vector<std::string> own_views_;
  std::vector<const ViewEntry*> order_;
  std::string cli_line_, cli_line_here_;  // as it was given, and as it has to be typed on this machine
  bool default_wanted_ = false;
};

}  // namespace ringwright::gui

#include "console/gui/services/recipe_dialogs.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "console/gui/services/commands.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPopup = "Open a recipe###recipe.dialog";
constexpr size_t kEntriesMax = 5000;

bool is_recipe(const fs::path& file) { return file.extension() == ".yaml" || file.extension() == ".yml"; }

}  // namespace

void open_recipe(Context& context, const fs::path& file) {
  const auto open = [file](Context& target) {
    target.recipe.open(file);
    target.cli_line = "ringwright check " + text::shell_word(file.string());
    if (target.workspace != "prepare") target.requested_workspace = "prepare";
  };
  if (!context.recipe.is_open() || !context.recipe.document().is_dirty()) {
    open(context);
    return;
  }
  const std::string name = context.recipe.document().file().filename().string();
  Confirmation question;
  question.title = "Leave " + name + " unsaved?";
  question.losses = {"Its edits since it was saved are lost. Ctrl+S saves them."};
  question.verb = "Leave it";
  question.act = open;
  context.confirmation = std::move(question);
}

void RecipeDialogs::show_folder(Context& context, const fs::path& folder) {
  folder_ = folder;
  path_ = folder.string() + "/";
  // A folder may lie on a disk that is slow to answer.
  const auto look = [this, folder]() -> BackgroundTasks::Outcome {
    std::vector<Entry> entries, samples;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end && entries.size() < kEntriesMax; it.increment(failed)) {
      std::error_code unknown;
      const bool is_folder = it->is_directory(unknown);
      if (it->path().filename().string().starts_with('.')) continue;
      if (is_folder || is_recipe(it->path())) entries.push_back({it->path(), is_folder});
    }
    for (const fs::path& place : sample_folders()) {
      for (fs::directory_iterator it(place, failed), end; !failed && it != end; it.increment(failed))
        if (is_recipe(it->path())) samples.push_back({it->path(), false});
    }
    const auto by_name = [](const Entry& a, const Entry& b) { return std::pair(!a.is_folder, a.path) < std::pair(!b.is_folder, b.path); };
    std::sort(entries.begin(), entries.end(), by_name);
    std::sort(samples.begin(), samples.end(), by_name);
    return [this, entries, samples, folder] {
      if (folder == folder_) entries_ = entries, samples_ = samples;
    };
  };
  context.recipe.tasks().run(look, [&context](const ErrorParts& parts) { context.notify(parts); });
}

void RecipeDialogs::choose(Context& context, const Entry& entry) {
  if (entry.is_folder) {
    show_folder(context, entry.path);
    return;
  }
  ImGui::CloseCurrentPopup();
  open_recipe(context, entry.path);
}

void RecipeDialogs::draw_entries(Context& context) {
  std::optional<Entry> chosen;
  const auto row = [&](const Entry& entry, const std::string& name) {
    push_name_id(entry.path.native());
    const ImVec2 start = ImGui::GetCursorScreenPos();
    if (ImGui::Selectable("###entry", false, ImGuiSelectableFlags_NoAutoClosePopups, {0, px(25)})) chosen = entry;
    text_at(ImGui::GetWindowDrawList(), {start.x + px(8), start.y + px(4)}, name, Role::code, color(entry.is_folder ? Token::text2 : Token::text));
    ImGui::PopID();
  };
  if (folder_.has_parent_path() && folder_ != folder_.root_path()) row({folder_.parent_path(), true}, "../");
  for (const Entry& entry : entries_) row(entry, entry.path.filename().string() + (entry.is_folder ? "/" : ""));
  if (!samples_.empty()) {
    ImGui::Dummy({1, px(4)});
    text("Samples", Role::heading);
    for (const Entry& entry : samples_) row(entry, entry.path.filename().string());
  }
  if (chosen) choose(context, *chosen);
}

void RecipeDialogs::draw(Context& context) {
  constexpr double kLookAgainSeconds = 0.05;  // while a check or a file is under way
  if (!context.recipe.is_idle()) context.redraw_within_s = std::min(context.redraw_within_s, kLookAgainSeconds);
  const bool appears = std::exchange(context.open_recipe_wanted, false);
  if (appears) {
    std::error_code failed;
    show_folder(context, context.recipe.is_open() ? context.recipe.document().file().parent_path() : fs::current_path(failed));
    ImGui::OpenPopup(kPopup);
  }
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  ImGui::SetNextWindowSize({std::min(px(640), viewport->WorkSize.x - px(32)), std::min(px(460), viewport->WorkSize.y - px(64))}, ImGuiCond_Appearing);
  if (!ImGui::BeginPopupModal(kPopup, nullptr, ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoDocking)) return;
  ImGui::SetNextItemWidth(-1);
  if (appears) ImGui::SetKeyboardFocusHere();
  bool entered = false;
  {
    const WithFont mono(Role::code);
    entered = ImGui::InputText("###recipe.path", &path_, ImGuiInputTextFlags_EnterReturnsTrue);
  }
  if (entered) {
    std::error_code failed;
    choose(context, {path_, fs::is_directory(path_, failed)});
  }
  if (ImGui::BeginChild("###entries", {0, -px(36)})) draw_entries(context);
  ImGui::EndChild();
  text("Type a path and press Enter, or choose a file.", Role::hint, Token::text2);
  ImGui::SameLine(ImGui::GetWindowWidth() - px(80));
  if (ImGui::Button("Cancel###cancel") || ImGui::IsKeyPressed(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace ringwright::gui

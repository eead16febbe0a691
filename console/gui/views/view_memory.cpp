// Memory: what a rank needs, term by term, beside what the machine has.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/gui/recipe/workbench.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/host.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr int kRowsMax = 16;  // ranks with a bar of their own: all ranks of a mesh need the same
constexpr float kLabelWidth = 72;

std::string bytes_text(int64_t bytes) { return text::format_bytes(static_cast<uint64_t>(std::max<int64_t>(0, bytes))); }

class ViewMemory : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    registry.add({"memory.estimate", "Memory estimate of the recipe", "Memory", 0, "",
                  [](const Context& context) -> std::optional<std::string> {
                    return context.recipe.is_open() ? std::nullopt : std::optional<std::string>("no recipe is open");
                  },
                  [](const Context& context) { return "ringwright check " + recipe_argument(context) + " --estimate"; },
                  [](Context& context) { context.focus_view = "memory"; }});
  }

  void draw(Context& context) override {
    if (!context.recipe.is_open()) {
      if (empty_state("No recipe is open", "Open one to see what each rank needs.", "Open a recipe...###recipe.open"))
        context.commands.run("recipe.open", context);
      return;
    }
    const auto& checked = context.recipe.loaded();
    if (!checked) {
      skeleton(6, px(26));
      return;
    }
    if (checked->flow_fault) {
      error_state(*checked->flow_fault);
      return;
    }
    if (!checked->estimate) {
      empty_state("No model folder: weights unknown", "Guards has a button to choose the folder with the model's config.json.");
      return;
    }
    draw_estimate(context, *checked);
  }

 private:
  static void draw_estimate(Context& context, const CheckedRecipe& checked) {
    const estimate::Estimate& estimate = *checked.estimate;
    const int ranks = std::max(1, checked.ranks), ranks_per_node = std::max(1, ranks / std::max(1, checked.nodes));
    const int64_t share = static_cast<int64_t>(host::memory_bytes()) / ranks_per_node;
    const int64_t needed = estimate.memory_bytes();
    draw_head(estimate, needed, share, ranks_per_node);
    const double most = static_cast<double>(std::max(needed, share > 0 && share < needed * 4 ? share : needed));
    const int shown = std::min(ranks, kRowsMax);
    for (int rank = 0; rank < shown; ++rank) draw_bar(context, estimate, rank, share, most);
    if (ranks > shown) text(fmt::format("and {} more ranks that need the same", ranks - shown), Role::hint, Token::text2);
    ImGui::Dummy({1, px(6)});
    draw_terms(estimate);
  }

  static void draw_head(const estimate::Estimate& estimate, int64_t needed, int64_t share, int ranks_per_node) {
    text("Memory of each rank, estimated", Role::heading);
    std::string words = fmt::format("{} a rank", bytes_text(needed));
    const bool over = share > 0 && needed > share;
    if (share > 0) words += fmt::format("; this machine has {} for each of {} ranks", bytes_text(share), ranks_per_node);
    text(words, Role::label, Token::text2);
    if (!over) return;
    const auto largest = std::max_element(estimate.terms.begin(), estimate.terms.end(),
                                          [](const estimate::Term& a, const estimate::Term& b) { return a.bytes < b.bytes; });
    icon(icons::cross_circle, 16, color(Token::error));
    ImGui::SameLine(0, px(6));
    text(fmt::format("over by {}; the largest term is {} with {}", bytes_text(needed - share), largest->name, bytes_text(largest->bytes)),
         Role::label, Token::error);
  }

  static void draw_bar(Context& context, const estimate::Estimate& estimate, int rank, int64_t share, double most) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, left = start.x + px(kLabelWidth), number = px(92), height = px(22);
    const float room = std::max(px(60), width - px(kLabelWidth) - number);
    ImGui::PushID(rank);
    if (ImGui::InvisibleButton("###memory.rank", {width, height})) context.selection.rank = context.selection.rank == rank ? -1 : rank;
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered(), lit = context.selection.rank == rank;
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (lit) list->AddRectFilled({start.x - px(4), start.y}, {start.x + width, start.y + height}, color(Token::sel), px(4));
    text_at(list, {start.x, start.y + px(3)}, fmt::format("rank {}", rank), Role::code, color(Token::text));
    const float top = start.y + px(4), bottom = start.y + height - px(4);
    list->AddRectFilled({left, top}, {left + room, bottom}, color(Token::bg3), px(2));
    float x = left;
    for (size_t i = 0; i < estimate.terms.size(); ++i) {
      const float end = x + room * static_cast<float>(static_cast<double>(estimate.terms[i].bytes) / most);
      list->AddRectFilled({x, top}, {std::max(x, end - px(1)), bottom}, to_u32(theme().series_color(static_cast<int>(i))));
      if (hovered && ImGui::GetIO().MousePos.x >= x && ImGui::GetIO().MousePos.x < end)
        ImGui::SetTooltip("%s: %s", estimate.terms[i].name.c_str(), bytes_text(estimate.terms[i].bytes).c_str());
      x = end;
    }
    if (share > 0 && static_cast<double>(share) <= most) {
      const float limit = left + room * static_cast<float>(static_cast<double>(share) / most);
      list->AddLine({limit, start.y + px(1)}, {limit, start.y + height - px(1)}, color(Token::error), px(2));
    }
    const std::string value = bytes_text(estimate.memory_bytes());
    text_at(list, {start.x + width - text_width(value, Role::number), start.y + px(3)}, value, Role::number, color(Token::text));
  }

  static void draw_terms(const estimate::Estimate& estimate) {
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {px(8), px(3)});
    if (ImGui::BeginTable("###memory.terms", 3, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_NoSavedSettings)) {
      ImGui::TableSetupColumn("term", ImGuiTableColumnFlags_WidthFixed, px(150));
      ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, px(92));
      ImGui::TableSetupColumn("how", ImGuiTableColumnFlags_WidthStretch);
      const auto row = [](const std::string& name, int64_t bytes, const std::string& formula, int swatch) {
        ImGui::TableNextRow(0, px(25));
        ImGui::TableSetColumnIndex(0);
        const ImVec2 start = ImGui::GetCursorScreenPos();
        if (swatch >= 0)
          ImGui::GetWindowDrawList()->AddRectFilled({start.x, start.y + px(4)}, {start.x + px(11), start.y + px(15)},
                                                    to_u32(theme().series_color(swatch)), px(3));
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + px(18));
        text_fitted(name, ImGui::GetContentRegionAvail().x, Role::label, color(Token::text));
        ImGui::TableSetColumnIndex(1);
        text_right(bytes_text(bytes), ImGui::GetContentRegionAvail().x, Role::number, color(Token::text));
        ImGui::TableSetColumnIndex(2);
        text_fitted(formula, ImGui::GetContentRegionAvail().x, Role::axis, color(Token::text2));
      };
      for (size_t i = 0; i < estimate.terms.size(); ++i)
        row(estimate.terms[i].name, estimate.terms[i].bytes, estimate.terms[i].formula, static_cast<int>(i));
      row("together", estimate.memory_bytes(), "without the program and its libraries", -1);
      row("a checkpoint", estimate.checkpoint_bytes, "on disk, of each save", -1);
      ImGui::EndTable();
    }
    ImGui::PopStyleVar();
  }
};

const RegisterView registration({"memory", "Memory", "O", make_view<ViewMemory>});

}  // namespace
}  // namespace ringwright::gui

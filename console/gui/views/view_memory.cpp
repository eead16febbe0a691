// Memory: what a rank needs, term by term, beside what the machine has and what the ranks of a run took.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/gui/data/measured_memory.h"
#include "console/gui/recipe/workbench.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/host.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr int kRowsMax = 16;  // ranks with a bar of their own: all ranks of a mesh need the same
constexpr float kLabelWidth = 72, kNumberWidth = 92, kMark = 5;

std::string bytes_text(int64_t bytes) { return text::format_bytes(static_cast<uint64_t>(std::max<int64_t>(0, bytes))); }

// What the bars are of.
struct Bars {
  const estimate::Estimate& estimate;
  int ranks = 1;
  int64_t share = 0;         // of this machine's memory, for each rank; 0: not known
  const Run* run = nullptr;  // whose ranks' peaks are marked, where any has one
  double most = 1;           // bytes, at the right end
};

Bars bars_of(const estimate::Estimate& estimate, int ranks, int64_t share, const Run* run) {
  Bars bars{estimate, std::max(1, ranks), share, nullptr};
  int64_t most = std::max<int64_t>(1, estimate.memory_bytes());
  if (const std::optional<int> rank = run != nullptr ? largest_rank(*run) : std::nullopt) {
    bars.run = run;
    most = std::max(most, *peak_bytes(*run, *rank));
  }
  if (share > most && share / 4 < most) most = share;
  bars.most = static_cast<double>(most);
  return bars;
}

// A diamond with an edge of the ground's colour, so that it is seen on every bar.
void draw_mark(ImDrawList* list, ImVec2 center, float size) {
  const auto diamond = [&](float reach, ImU32 ink) {
    list->AddQuadFilled({center.x, center.y - reach}, {center.x + reach, center.y}, {center.x, center.y + reach}, {center.x - reach, center.y}, ink);
  };
  diamond(size + px(2), color(Token::bg1));
  diamond(size, color(Token::text));
}

class ViewMemory : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    registry.add({"memory.estimate", "Memory estimate of the recipe", "Memory", 0, "",
                  [](const Context& context) -> std::optional<std::string> {
                    return context.recipe.is_open() ? std::nullopt : std::optional<std::string>("no recipe is open");
                  },
                  [](const Context& context) { return "ringwright check " + recipe_argument(context) + " --estimate"; },
                  [](Context& context) { context.focus_view = "memory"; }});
    registry.add({"memory.measured", "Memory that the ranks of the run took", "Memory", 0, "",
                  [](const Context& context) -> std::optional<std::string> {
                    return context.run() ? std::nullopt : std::optional<std::string>("no run is selected");
                  },
                  [](const Context& context) { return "ringwright runs show " + context.selection.run; },
                  [](Context& context) { context.focus_view = "memory"; }});
  }

  void draw(Context& context) override {
    const auto run = context.run();
    if (!context.recipe.is_open()) {
      if (run && run->parts.estimate) {
        draw_run(context, *run);
      } else if (empty_state("No recipe is open", "Open one to see what each rank needs.", "Open a recipe...###recipe.open")) {
        context.commands.run("recipe.open", context);
      }
      return;
    }
    const auto& checked = context.recipe.loaded();
    if (!checked) {
      skeleton(6, px(26));
      return;
    }
    const support_matrix::Examination& examination = checked->examination;
    if (examination.step_fault) {
      error_state(*examination.step_fault);
      return;
    }
    if (!examination.estimate) {
      empty_state("No model folder: weights unknown", "Guards has a button to choose the folder with the model's config.json.");
      return;
    }
    draw_recipe(context, *checked, run.get());
  }

 private:
  void draw_recipe(Context& context, const CheckedRecipe& checked, const Run* run) {
    const int ranks = std::max(1, checked.ranks), ranks_per_node = std::max(1, ranks / std::max(1, checked.nodes));
    const Bars bars = bars_of(*checked.examination.estimate, ranks, static_cast<int64_t>(host::memory_bytes()) / ranks_per_node, run);
    draw_head(bars, "Memory of each rank, estimated", ranks_per_node);
    draw_measured(bars, run, run != nullptr ? difference_of(*run, checked) : "");
    draw_bars(context, bars);
    draw_terms(bars.estimate);
  }

  // Without a recipe: what the run's own worker expected.
  static void draw_run(Context& context, const Run& run) {
    const Bars bars = bars_of(*run.parts.estimate, run.record.world_size, 0, &run);
    draw_head(bars, fmt::format("Memory of each rank, as {} expected it", run.record.name), 0);
    draw_measured(bars, &run, "");
    draw_bars(context, bars);
    draw_terms(bars.estimate);
  }

  const std::string& difference_of(const Run& run, const CheckedRecipe& checked) {
    if (compared_run_ == run.record.id && compared_recipe_ == checked.recipe) return difference_;
    compared_run_ = run.record.id;
    compared_recipe_ = checked.recipe;
    difference_ = checked.recipe ? other_recipe_sentence(run.record, nlohmann::json(checked.recipe->resolved)) : "";
    return difference_;
  }

  static void draw_head(const Bars& bars, const std::string& title, int ranks_per_node) {
    const int64_t needed = bars.estimate.memory_bytes();
    text_fitted(title, ImGui::GetContentRegionAvail().x, Role::heading, color(Token::text));
    std::string words = fmt::format("{} a rank", bytes_text(needed));
    if (bars.share > 0) words += fmt::format("; this machine has {} for each of {} ranks", bytes_text(bars.share), ranks_per_node);
    text_fitted(words, ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
    if (bars.share <= 0 || needed <= bars.share) return;
    const auto largest = std::max_element(bars.estimate.terms.begin(), bars.estimate.terms.end(),
                                          [](const estimate::Term& a, const estimate::Term& b) { return a.bytes < b.bytes; });
    icon(icons::cross_circle, 16, color(Token::error));
    ImGui::SameLine(0, px(6));
    text(fmt::format("over by {}; the largest term is {} with {}", bytes_text(needed - bars.share), largest->name, bytes_text(largest->bytes)),
         Role::label, Token::error);
  }

  // The legend of the marks, or why there are none.
  static void draw_measured(const Bars& bars, const Run* run, const std::string& difference) {
    if (bars.run != nullptr) {
      const ImVec2 start = ImGui::GetCursorScreenPos();
      const float height = ImGui::GetTextLineHeight();
      draw_mark(ImGui::GetWindowDrawList(), {start.x + px(7), start.y + height / 2}, px(kMark));
      ImGui::Dummy({px(14), height});
      ImGui::SameLine(0, px(6));
    }
    ImGui::PushTextWrapPos(0);
    text(measured_sentence(run), Role::label, bars.run != nullptr ? Token::text2 : Token::text3);
    if (bars.run != nullptr && !difference.empty()) text(difference, Role::label, Token::warn);
    ImGui::PopTextWrapPos();
    ImGui::Dummy({1, px(2)});
  }

  static void draw_bars(Context& context, const Bars& bars) {
    if (bars.run != nullptr) draw_columns();
    const int shown = std::min(bars.ranks, kRowsMax);
    for (int rank = 0; rank < shown; ++rank) draw_bar(context, bars, rank);
    if (bars.ranks > shown) text(fmt::format("and {} more ranks that need the same", bars.ranks - shown), Role::hint, Token::text2);
    ImGui::Dummy({1, px(6)});
  }

  // What the two numbers are.
  static void draw_columns() {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float right = start.x + ImGui::GetContentRegionAvail().x;
    ImDrawList* list = ImGui::GetWindowDrawList();
    text_at(list, {right - text_width("measured", Role::label), start.y}, "measured", Role::label, color(Token::text2));
    text_at(list, {right - px(kNumberWidth) - text_width("estimate", Role::label), start.y}, "estimate", Role::label, color(Token::text2));
    ImGui::Dummy({px(1), ImGui::GetTextLineHeight()});
  }

  static void draw_bar(Context& context, const Bars& bars, int rank) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, left = start.x + px(kLabelWidth), height = px(22);
    const float numbers = px(kNumberWidth) * (bars.run != nullptr ? 2 : 1), room = std::max(px(60), width - px(kLabelWidth) - numbers);
    ImGui::PushID(rank);
    if (ImGui::InvisibleButton("###memory.rank", {width, height})) context.selection.rank = context.selection.rank == rank ? -1 : rank;
    ImGui::PopID();
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (context.selection.rank == rank)
      list->AddRectFilled({start.x - px(4), start.y}, {start.x + width, start.y + height}, color(Token::sel), px(4));
    text_at(list, {start.x, start.y + px(3)}, fmt::format("rank {}", rank), Role::code, color(Token::text));
    const float top = start.y + px(4), bottom = start.y + height - px(4);
    list->AddRectFilled({left, top}, {left + room, bottom}, color(Token::bg3), px(2));
    const bool hovered = ImGui::IsItemHovered();
    const int64_t peak = bars.run != nullptr ? peak_bytes(*bars.run, rank).value_or(0) : 0;  // 0: none
    const float mark = left + room * static_cast<float>(static_cast<double>(peak) / bars.most);
    const bool on_mark = peak > 0 && hovered && std::abs(ImGui::GetIO().MousePos.x - mark) <= px(kMark + 2);
    if (on_mark) ImGui::SetTooltip("took %s at most, as measured", bytes_text(peak).c_str());
    draw_stack(bars, {left, top}, {left + room, bottom}, hovered && !on_mark);
    if (bars.share > 0 && static_cast<double>(bars.share) <= bars.most) {
      const float limit = left + room * static_cast<float>(static_cast<double>(bars.share) / bars.most);
      list->AddLine({limit, start.y + px(1)}, {limit, start.y + height - px(1)}, color(Token::error), px(2));
    }
    const auto number = [&](const std::string& value, float right, Token ink) {
      text_at(list, {right - text_width(value, Role::number), start.y + px(3)}, value, Role::number, color(ink));
    };
    if (bars.run == nullptr) return number(bytes_text(bars.estimate.memory_bytes()), start.x + width, Token::text);
    number(bytes_text(bars.estimate.memory_bytes()), start.x + width - px(kNumberWidth), Token::text2);
    number(peak > 0 ? bytes_text(peak) : "-", start.x + width, peak > 0 ? Token::text : Token::text3);
    if (peak > 0) draw_mark(list, {mark, start.y + height / 2}, px(kMark));
  }

  static void draw_stack(const Bars& bars, ImVec2 low, ImVec2 high, bool hovered) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    float x = low.x;
    for (size_t i = 0; i < bars.estimate.terms.size(); ++i) {
      const estimate::Term& term = bars.estimate.terms[i];
      const float end = x + (high.x - low.x) * static_cast<float>(static_cast<double>(term.bytes) / bars.most);
      list->AddRectFilled({x, low.y}, {std::max(x, end - px(1)), high.y}, to_u32(theme().series_color(static_cast<int>(i))));
      if (hovered && ImGui::GetIO().MousePos.x >= x && ImGui::GetIO().MousePos.x < end)
        ImGui::SetTooltip("%s: %s", term.name.c_str(), bytes_text(term.bytes).c_str());
      x = end;
    }
  }

  static void draw_terms(const estimate::Estimate& estimate) {
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {px(8), px(3)});
    if (ImGui::BeginTable("###memory.terms", 3, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_NoSavedSettings)) {
      ImGui::TableSetupColumn("term", ImGuiTableColumnFlags_WidthFixed, px(150));
      ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, px(92));
      ImGui::TableSetupColumn("how", ImGuiTableColumnFlags_WidthStretch);
      for (size_t i = 0; i < estimate.terms.size(); ++i)
        draw_term(estimate.terms[i].name, estimate.terms[i].bytes, estimate.terms[i].formula, static_cast<int>(i));
      draw_term("together", estimate.memory_bytes(), "without the program and its libraries", -1);
      draw_term("a checkpoint", estimate.checkpoint_bytes, "on disk, of each save", -1);
      ImGui::EndTable();
    }
    ImGui::PopStyleVar();
  }

  static void draw_term(const std::string& name, int64_t bytes, const std::string& formula, int swatch) {
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
  }

  std::string compared_run_, difference_;  // of that run to that recipe
  std::shared_ptr<const recipe::Recipe> compared_recipe_;
};

const RegisterView registration({"memory", "Memory", "O", make_view<ViewMemory>});

}  // namespace
}  // namespace ringwright::gui

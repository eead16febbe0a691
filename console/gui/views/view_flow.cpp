// Flow: the path of one step as boxes, with the shape of what each makes and the scale of the loss.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "console/gui/recipe/workbench.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr float kBoxHeight = 46, kArrow = 12;

// The key that decides what a stage does.
const char* key_of(flow::Stage stage) {
  using enum flow::Stage;
  switch (stage) {
    case batch:
      return "policy.train_micro_batch_size";
    case shift:
      return "policy.max_total_sequence_length";
    case shard:
    case gather:
      return "policy.dtensor_cfg.context_parallel_size";
    case reduce:
      return "cluster.gpus_per_node";
    case update:
      return "policy.optimizer.kwargs.lr";
    case teacher_forward:
    case teacher_window:
      return "teachers";
    default:
      return "policy.model_name";
  }
}

class ViewFlow : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    const auto needs_flow = [](const Context& context) -> std::optional<std::string> {
      if (!context.recipe.is_open()) return "no recipe is open";
      return context.recipe.loaded() && context.recipe.loaded()->examination.flow ? std::nullopt
                                                                                  : std::optional<std::string>("the step is not known");
    };
    const auto cli = [](const Context& context) { return "ringwright explain flow " + recipe_argument(context); };
    const auto add = [&](const char* id, const char* title, ImGuiKey key, const char* keys, std::function<void(Context&)> run) {
      registry.add({id, title, "Flow", key, keys, needs_flow, cli, std::move(run), ImGuiKey_None, "flow"});
    };
    add("flow.next", "Next stage of the step", ImGuiKey_DownArrow, "Down", [this](Context&) { current_ = std::min(current_ + 1, count_ - 1); });
    add("flow.previous", "Stage before", ImGuiKey_UpArrow, "Up", [this](Context&) { current_ = std::max(current_ - 1, 0); });
    add("flow.jump", "Go to the key of this stage", ImGuiKey_Enter, "Enter", [this](Context& context) { jump(context); });
  }

  void draw(Context& context) override {
    if (!context.recipe.is_open()) {
      if (empty_state("No recipe", "Open one to see the path of its step.", "Open a recipe...###recipe.open"))
        context.commands.run("recipe.open", context);
      return;
    }
    const auto& checked = context.recipe.loaded();
    if (!checked) {
      skeleton(6, px(46));
      return;
    }
    if (!checked->examination.flow) {
      error_state(checked->examination.step_fault ? *checked->examination.step_fault
                                                  : checked->check_fault.value_or(ErrorParts{"RW-GUI-022", "the step is not known", "", "", ""}));
      return;
    }
    draw_flow(context, *checked->examination.flow);
  }

 private:
  void jump(Context& context) {
    const auto& flow = *context.recipe.loaded()->examination.flow;
    const auto stages = flow::path(flow.engine, flow.loss, flow.sizes);
    const char* key = key_of(stages[static_cast<size_t>(std::clamp(current_, 0, static_cast<int>(stages.size()) - 1))].stage);
    context.selection.recipe_key = key;
    context.recipe.jump_to_key(key, true);
    context.focus_view = "launch";
  }

  void draw_flow(Context& context, const support_matrix::RecipeFlow& flow) {
    const flow::StepSizes& sizes = flow.sizes;
    text(fmt::format("One step of {}", flow.algorithm), Role::heading);
    text(fmt::format("dp {} x cp {} x tp {}, one microbatch of {} x {} tokens", sizes.dp, sizes.cp, sizes.tp, sizes.rows, sizes.length), Role::code,
         Token::text2);
    if (!flow.note.empty()) {
      ImGui::PushTextWrapPos(0);
      text(flow.note, Role::label, Token::warn);
      ImGui::PopTextWrapPos();
    }
    ImGui::Dummy({1, px(2)});
    const auto stages = flow::path(flow.engine, flow.loss, sizes);
    count_ = static_cast<int>(stages.size());
    current_ = std::clamp(current_, 0, std::max(0, count_ - 1));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    for (int i = 0; i < count_; ++i) draw_stage(context, stages[static_cast<size_t>(i)], i);
    ImGui::PopStyleVar();
    draw_scales(flow);
  }

  void draw_stage(Context& context, const flow::StageText& stage, int index) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = px(kBoxHeight);
    ImGui::PushID(index);
    if (ImGui::InvisibleButton("###flow.stage", {width, height + (index + 1 < count_ ? px(kArrow) : 0)})) {
      current_ = index;
      context.selection.recipe_key = key_of(stage.stage);
      context.recipe.jump_to_key(context.selection.recipe_key);
    }
    ImGui::PopID();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const bool chosen = index == current_;
    const ImVec2 end{start.x + width, start.y + height};
    list->AddRectFilled(start, end, color(chosen ? Token::sel : ImGui::IsItemHovered() ? Token::bg3 : Token::bg2), px(4));
    list->AddRect(start, end, color(chosen ? Token::accent : Token::line), px(4), px(1));
    const std::string shape = flow::shape_text(stage.shape);
    const float shape_width = text_width(shape, Role::code), name_room = width - shape_width - px(56);
    text_at(list, {start.x + px(10), start.y + px(6)}, std::to_string(index + 1), Role::code, color(Token::text3));
    text_at(list, {start.x + px(34), start.y + px(5)}, stage.name, Role::heading, color(Token::text), std::max(px(40), name_room));
    if (name_room > px(40)) text_at(list, {end.x - shape_width - px(10), start.y + px(6)}, shape, Role::code, color(Token::accent));
    const float place_width = stage.place.empty() ? 0 : text_width(stage.place, Role::axis) + px(16);
    const bool place_fits = width - px(60) > place_width + px(160);
    text_at(list, {start.x + px(34), start.y + px(25)}, stage.note, Role::hint, color(Token::text2), width - px(44) - (place_fits ? place_width : 0));
    if (place_fits && place_width > 0) text_at(list, {end.x - place_width + px(6), start.y + px(25)}, stage.place, Role::axis, color(Token::text3));
    if (ImGui::IsItemHovered()) {
      ImGui::BeginTooltip();
      ImGui::PushTextWrapPos(px(460));
      text(fmt::format("{} {}", stage.name, shape), Role::heading);
      text(stage.note, Role::label);
      text(std::string(stage.place), Role::axis, Token::text2);
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
    }
    if (index + 1 >= count_) return;
    const float x = std::round(start.x + px(17));
    list->AddLine({x, end.y}, {x, end.y + px(kArrow - 4)}, color(Token::line2), px(1));
    list->AddTriangleFilled({x - px(4), end.y + px(kArrow - 5)}, {x + px(4), end.y + px(kArrow - 5)}, {x, end.y + px(kArrow)}, color(Token::line2));
  }

  static void draw_scales(const support_matrix::RecipeFlow& flow) {
    ImGui::Dummy({1, px(6)});
    text("Scale of the loss before backward", Role::heading);
    for (const support_matrix::TargetScale& each : support_matrix::loss_scales(flow)) {
      const ImVec2 start = ImGui::GetCursorScreenPos();
      const float width = ImGui::GetContentRegionAvail().x;
      text_at(ImGui::GetWindowDrawList(), start, support_matrix::kTargetNames[static_cast<size_t>(each.target)], Role::code, color(Token::text),
              px(116));
      text_at(ImGui::GetWindowDrawList(), {start.x + px(120), start.y + px(1)}, each.scale.words, Role::label, color(Token::text2), width - px(120));
      ImGui::Dummy({width, px(20)});
      if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", each.scale.words.c_str());
    }
    text("B rows, S tokens of a row, L of them on one rank, d hidden size, V vocabulary", Role::hint, Token::text2);
  }

  int current_ = 0, count_ = 0;
};

const RegisterView registration({"flow", "Flow", "F", make_view<ViewFlow>});

}  // namespace
}  // namespace ringwright::gui

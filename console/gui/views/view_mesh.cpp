#include "console/gui/views/view_mesh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "console/gui/recipe/workbench.h"
#include "console/gui/services/recipe_commands.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr int kCellRanksMax = 128, kRankCellsMax = 2048, kGroupsShownMax = 6;

void make_changes(Context& context, const std::vector<support_matrix::Change>& changes) {
  context.cli_line = recipe_set_line(context, changes);
  std::vector<recipe::TextEdit> edits;
  for (const support_matrix::Change& change : changes) edits.push_back(recipe::parse_set("++" + support_matrix::as_override(change)));
  context.recipe.edit_keys(std::move(edits), EditOrigin::mesh);
}

// "12,288 -> 6,144", or one value where nothing changes.
std::string arrow(const std::string& before, const std::string& after) { return before == after || before == "-" ? after : before + " -> " + after; }

std::string bytes_text(const std::optional<int64_t>& bytes) {
  return bytes ? text::format_bytes(static_cast<uint64_t>(std::max<int64_t>(0, *bytes))) : "-";
}

}  // namespace

void ViewMesh::update(Context& context) {
  if (suggested_for_ != context.recipe.document().file()) {
    suggested_for_ = context.recipe.document().file();
    suggestions_.clear();
    suggested_ = false;
  }
  if (planned_ == context.recipe.loaded()) return;
  planned_ = context.recipe.loaded();
  plan_.reset();
  fault_.reset();
  if (!planned_) return;
  try {
    plan_ = plan_mesh(*planned_);
  } catch (const Error& error) {
    fault_ = error.parts();
  }
  if (!plan_ || !plan_->mesh) return;
  const auto axes = plan_->mesh->group_axes();
  if (std::find(axes.begin(), axes.end(), colour_by_) == axes.end()) colour_by_ = "cp";
  if (hovered_rank_ >= plan_->world()) hovered_rank_ = -1;
  if (locked_rank_ >= plan_->world()) locked_rank_ = -1;
}

void ViewMesh::set(Context& context, const MeshDimension& dimension, int value) {
  if (dimension.key.empty() || value == dimension.value || value < 1) return;
  context.selection.recipe_key = dimension.key;
  make_changes(context, mesh_changes(*plan_, dimension, value, hold_data_));
}

void ViewMesh::step(Context& context, int by) {
  if (!plan_) return;
  const MeshDimension& dimension = plan_->dimensions[current_];
  set(context, dimension, dimension.next(by));
}

void ViewMesh::suggest(Context& context) {
  if (!plan_ || suggesting_) return;
  suggesting_ = true;
  const CheckQuestion question{0, context.recipe.document().file(), planned_->text, "", context.recipe.model_folder()};
  const auto work = [this, question, plan = *plan_]() -> BackgroundTasks::Outcome {
    return [this, file = question.file, found = suggest_meshes(question, plan)] {
      suggesting_ = false;
      if (file == suggested_for_) suggestions_ = found, suggested_ = true;
    };
  };
  context.recipe.tasks().run(work, [this, &context](const ErrorParts& parts) {
    suggesting_ = false;
    context.notify(parts);
  });
}

void ViewMesh::add_commands(CommandRegistry& registry) {
  using Refusal = std::optional<std::string>;
  const auto needs_mesh = [this](const Context& context) -> Refusal {
    if (!context.recipe.is_open()) return "no recipe is open";
    return plan_ ? Refusal() : Refusal("the recipe does not load");
  };
  const auto add = [&](const char* id, const char* title, ImGuiKeyChord chord, const char* keys, std::function<void(Context&)> run) {
    registry.add({id, title, "Mesh", chord, keys, needs_mesh, nullptr, std::move(run), ImGuiKey_None, "mesh"});
  };
  const auto move = [this](int by) {
    const auto count = static_cast<int>(plan_->dimensions.size());
    current_ = static_cast<size_t>((static_cast<int>(current_) + by + count) % count);
  };
  add("mesh.next", "Next dimension", ImGuiKey_DownArrow, "Down", [move](Context&) { move(1); });
  add("mesh.previous", "Previous dimension", ImGuiKey_UpArrow, "Up", [move](Context&) { move(-1); });
  add("mesh.larger", "Next valid size of this dimension", ImGuiKey_Equal, "+", [this](Context& context) { step(context, 1); });
  add("mesh.smaller", "Valid size before this one", ImGuiKey_Minus, "-", [this](Context& context) { step(context, -1); });
  add("mesh.colour", "Colour ranks by the next dimension", ImGuiKey_B, "B", [this](Context&) {
    if (!plan_->mesh) return;
    const auto axes = plan_->mesh->group_axes();
    const auto found = std::find(axes.begin(), axes.end(), colour_by_);
    colour_by_ = found == axes.end() || found + 1 == axes.end() ? axes.front() : *(found + 1);
  });
  add("mesh.hold", "Hold the data ranks, and change the world instead", 0, "", [this](Context&) { hold_data_ = !hold_data_; });
  registry.add({"mesh.suggest", "Suggest meshes that pass all guards", "Mesh", 0, "", needs_mesh,
                [](const Context& context) { return "ringwright check " + recipe_argument(context) + " --estimate"; },
                [this](Context& context) { suggest(context); }});
}

void ViewMesh::draw_sentence() const {
  std::string words = fmt::format("world {} =", plan_->world());
  for (size_t i = 0; i < 4; ++i) words += fmt::format("{} {} {}", i == 0 ? "" : " x", plan_->dimensions[i].axis, plan_->dimensions[i].value);
  text(words, Role::code);
  ImGui::SameLine(0, px(8));
  const bool good = plan_->mesh.has_value();
  icon(good ? icons::check_circle : icons::cross_circle, 15, color(good ? Token::ok : Token::error));
  if (good) return;
  ImGui::PushTextWrapPos(0);
  text(plan_->fault->what + (plan_->fault->expected.empty() ? "" : "; valid: " + plan_->fault->expected), Role::hint, Token::error);
  ImGui::PopTextWrapPos();
}

void ViewMesh::draw_dimension(Context& context, size_t index) {
  const MeshDimension& dimension = plan_->dimensions[index];
  ImGui::PushID(dimension.axis.c_str());
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetFrameHeight();
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (index == current_) list->AddRectFilled({start.x - px(4), start.y}, {start.x + width, start.y + height}, color(Token::sel), px(4));
  list->AddRectFilled({start.x, start.y + px(7)}, {start.x + px(11), start.y + px(18)}, to_u32(theme().series_color(static_cast<int>(index))), px(3));
  text_at(list, {start.x + px(19), start.y + px(4)}, dimension.axis, Role::code, color(Token::text));
  ImGui::SetCursorScreenPos({start.x + px(48), start.y});
  const bool editable = !dimension.key.empty();
  ImGui::BeginDisabled(!editable);
  const WithFont mono(Role::code);
  if (ImGui::Button("-###mesh.smaller", {px(24), 0})) current_ = index, context.commands.run("mesh.smaller", context);
  ImGui::SameLine(0, px(2));
  ImGui::SetNextItemWidth(px(52));
  int value = dimension.value;
  const bool bad = editable && !dimension.is_valid();
  if (bad) ImGui::PushStyleColor(ImGuiCol_Border, color(Token::error)), ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, px(1.5F));
  if (ImGui::InputInt("###mesh.value", &value, 0, 0, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll))
    set(context, dimension, value);
  if (bad) ImGui::PopStyleVar(), ImGui::PopStyleColor();
  if (ImGui::IsItemActivated()) current_ = index;
  ImGui::SameLine(0, px(2));
  if (ImGui::Button("+###mesh.larger", {px(24), 0})) current_ = index, context.commands.run("mesh.larger", context);
  ImGui::EndDisabled();
  ImGui::SameLine(0, px(12));
  if (!editable) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    text_at(list, {at.x, at.y + px(4)}, dimension.note, Role::axis, color(Token::text2), start.x + width - at.x);
    ImGui::Dummy({1, height});
    ImGui::PopID();
    return;
  }
  for (const int valid : dimension.valid) {
    const std::string label = std::to_string(valid);
    if (ImGui::GetCursorScreenPos().x + text_width(label, Role::code) + px(12) > start.x + width) break;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {px(6), px(4)});
    ImGui::PushStyleColor(ImGuiCol_Button, color(valid == dimension.value ? Token::bg3 : Token::bg1));
    if (ImGui::Button((label + "###mesh.valid." + label).c_str())) current_ = index, set(context, dimension, valid);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImGui::SameLine(0, px(2));
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = start.x + width - at.x - px(6);
  if (!dimension.note.empty() && room > px(50)) text_at(list, {at.x + px(6), at.y + px(4)}, dimension.note, Role::axis, color(Token::text2), room);
  ImGui::NewLine();
  ImGui::PopID();
}

void ViewMesh::draw_colour_choice(Context& context) {
  ImGui::AlignTextToFramePadding();
  text("Colour by", Role::label, Token::text2);
  for (const std::string& axis : plan_->mesh->group_axes()) {
    if (plan_->mesh->axis_size(axis) <= 1 && axis != colour_by_) continue;
    ImGui::SameLine(0, px(4));
    if (ImGui::GetContentRegionAvail().x < text_width(axis, Role::code) + px(16)) break;
    ImGui::PushStyleColor(ImGuiCol_Button, color(axis == colour_by_ ? Token::sel : Token::bg3));
    const WithFont mono(Role::code);
    if (ImGui::Button((axis + "###mesh.colour." + axis).c_str())) colour_by_ = axis;
    ImGui::PopStyleColor();
  }
  ImGui::SameLine(0, px(8));
  const int rank = locked_rank_ >= 0 ? locked_rank_ : hovered_rank_ >= 0 ? hovered_rank_ : context.selection.rank;
  const float room = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (rank >= 0 && rank < plan_->world() && room > px(60))
    text_at(ImGui::GetWindowDrawList(), {at.x, at.y + px(5)}, fmt::format("{} group of rank {}", colour_by_, rank), Role::hint, color(Token::text2),
            room);
  ImGui::NewLine();
}

void ViewMesh::draw_cell(Context& context, int rank, ImVec2 low, ImVec2 high, const Cell& cell) {
  ImGui::SetCursorScreenPos(low);
  ImGui::PushID(rank);
  if (ImGui::InvisibleButton("###mesh.rank", {high.x - low.x, high.y - low.y})) context.selection.rank = context.selection.rank == rank ? -1 : rank;
  ImGui::PopID();
  const Color fill = rank_color(cell.position, cell.group_size);
  if (ImGui::IsItemHovered()) {
    hovered_rank_ = rank;
    if (ImGui::IsKeyPressed(ImGuiKey_LeftShift) || ImGui::IsKeyPressed(ImGuiKey_RightShift)) locked_rank_ = locked_rank_ == rank ? -1 : rank;
    std::string place;
    if (const auto coordinate = plan_->mesh->coordinate(rank))
      for (size_t i = 0; i < coordinate->size(); ++i) place += fmt::format("  {} {}", plan_->mesh->root().axes[i], (*coordinate)[i]);
    ImGui::SetTooltip("rank %d%s\nShift holds its group", rank, place.c_str());
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool in_group = cell.lit;
  const bool chosen = context.selection.rank == rank;
  list->AddRectFilled(low, high, to_u32(in_group ? fill : blend(with_alpha(fill, 0.4), theme()[Token::bg1])), px(3));
  list->AddRectFilled({low.x, high.y - px(4)}, high, to_u32(fill), px(2));
  if (in_group || chosen) list->AddRect(low, high, color(Token::text), px(3), px(chosen ? 2.0F : 1.5F));
  if (high.x - low.x < px(24)) return;
  const std::string label = std::to_string(rank);
  text_at(list, {(low.x + high.x - text_width(label, Role::axis)) / 2, low.y + px(5)}, label, Role::axis,
          in_group ? to_u32(ink_on(fill)) : color(Token::text));
}

void ViewMesh::draw_grid(Context& context, const Groups& groups) {
  const int world = plan_->world();
  const bool large = world <= kCellRanksMax;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float label = px(56), room = ImGui::GetContentRegionAvail().x - label;
  if (world > kRankCellsMax) {
    text(fmt::format("{} nodes of {} ranks each: too many to draw one by one", plan_->nodes, plan_->ranks_per_node), Role::label, Token::text2);
    return;
  }
  const float gap = px(2), width = large ? std::clamp(room / static_cast<float>(std::min(plan_->ranks_per_node, 16)) - gap, px(18), px(42)) : px(10);
  const float height = large ? px(29) : px(10);
  const int a_row = std::max(1, static_cast<int>(room / (width + gap)));
  const int asked = locked_rank_ >= 0 ? locked_rank_ : hovered_rank_ >= 0 ? hovered_rank_ : context.selection.rank;
  std::vector<Cell> cells(static_cast<size_t>(world));
  for (const std::vector<int>& group : groups) {
    const bool lit = std::find(group.begin(), group.end(), asked) != group.end();
    for (size_t i = 0; i < group.size(); ++i) cells[static_cast<size_t>(group[i])] = {static_cast<int>(i), static_cast<int>(group.size()), lit};
  }
  hovered_rank_ = -1;
  float y = start.y;
  for (int node = 0; node < plan_->nodes; ++node) {
    text_at(ImGui::GetWindowDrawList(), {start.x, y + (height - font_px(Role::axis)) / 2}, fmt::format("node {}", node), Role::axis,
            color(Token::text2));
    for (int i = 0; i < plan_->ranks_per_node; ++i) {
      const ImVec2 low{start.x + label + static_cast<float>(i % a_row) * (width + gap), y + static_cast<float>(i / a_row) * (height + gap)};
      const int rank = node * plan_->ranks_per_node + i;
      draw_cell(context, rank, low, {low.x + width, low.y + height}, cells[static_cast<size_t>(rank)]);
    }
    y += static_cast<float>((plan_->ranks_per_node + a_row - 1) / a_row) * (height + gap) + px(2);
  }
  ImGui::SetCursorScreenPos({start.x, y});
  ImGui::Dummy({1, px(2)});
}

void ViewMesh::draw_groups(const Groups& groups) const {
  const auto node_of = [&](int rank) { return rank / plan_->ranks_per_node; };
  size_t crossing = 0;
  std::vector<std::string> shown;
  for (const std::vector<int>& group : groups) {
    crossing += std::any_of(group.begin(), group.end(), [&](int rank) { return node_of(rank) != node_of(group.front()); }) ? 1 : 0;
    if (shown.size() < kGroupsShownMax) shown.push_back(fmt::format("[{}]", fmt::join(group, " ")));
  }
  const std::string more = groups.size() > shown.size() ? " ..." : "";
  text_fitted(fmt::format("{} group{} of {}: {}{}", groups.size(), groups.size() == 1 ? "" : "s", colour_by_, fmt::join(shown, " "), more),
              ImGui::GetContentRegionAvail().x, Role::axis, color(Token::text2));
  text(crossing == 0 ? "No group crosses nodes" : fmt::format("{} of {} groups cross nodes", crossing, groups.size()), Role::hint,
       crossing == 0 ? Token::text2 : Token::warn);
}

void ViewMesh::draw_price(Context& context) const {
  const auto& checked = context.recipe.loaded();
  if (!checked->price) return;
  const Price& now = *checked->price;
  const Price& before = checked->saved_price ? *checked->saved_price : now;
  struct Line {
    const char* name;
    std::string value;
  };
  const Line lines[] = {
      {"tokens a rank", arrow(text::format_count(before.tokens_per_rank), text::format_count(now.tokens_per_rank))},
      {"memory a rank", arrow(bytes_text(before.memory_bytes), bytes_text(now.memory_bytes))},
      {"slowest rank", arrow(fmt::format("{:.0f} %", before.slowest_percent), fmt::format("{:.0f} %", now.slowest_percent))},
      {"attention received, a row and layer", arrow(bytes_text(before.row_attention_bytes), bytes_text(now.row_attention_bytes))},
  };
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({1, px(2)});
  text("Price", Role::heading);
  for (const Line& line : lines) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float value = text_width(line.value, Role::number), room = std::min(width, px(420));
    text_at(ImGui::GetWindowDrawList(), start, line.name, Role::label, color(Token::text2), room - value - px(8));
    text_at(ImGui::GetWindowDrawList(), {start.x + room - value, start.y}, line.value, Role::number,
            color(line.value.find("->") != std::string::npos ? Token::accent : Token::text));
    ImGui::Dummy({room, px(18)});
  }
}

void ViewMesh::draw_suggestions(Context& context) {
  if (button_or_reason(suggesting_ ? "Suggesting...###mesh.suggest" : "Suggest###mesh.suggest", suggesting_ ? "meshes are being checked" : ""))
    context.commands.run("mesh.suggest", context);
  ImGui::SameLine(0, px(8));
  bool held = hold_data_;
  if (ImGui::Checkbox("hold dp###mesh.hold", &held)) context.commands.run("mesh.hold", context);
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("The number of data ranks stays, and the ranks of a node change instead");
  if (suggested_ && suggestions_.empty()) text("No mesh of these ranks passes all guards", Role::hint, Token::warn);
  for (size_t i = 0; i < suggestions_.size(); ++i) {
    const MeshSuggestion& each = suggestions_[i];
    const std::string label =
        fmt::format("cp {} x tp {}: {}, slowest {:.0f} %###mesh.suggestion.{}", each.cp, each.tp,
                    each.price.memory_bytes ? bytes_text(each.price.memory_bytes) : text::format_count(each.price.tokens_per_rank) + " tokens a rank",
                    each.price.slowest_percent, i);
    if (!ImGui::Button(label.c_str())) continue;
    make_changes(context, {{plan_->dimensions[2].key, std::to_string(each.cp)}, {plan_->dimensions[3].key, std::to_string(each.tp)}});
  }
}

void ViewMesh::draw(Context& context) {
  update(context);
  if (!context.recipe.is_open()) {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    if (empty_state("No recipe", fmt::format("This machine has {} cores: so many ranks fit on its CPU.", cores), "Open a recipe...###recipe.open"))
      context.commands.run("recipe.open", context);
    return;
  }
  if (fault_) {
    error_state(*fault_);
    return;
  }
  if (!plan_) {
    if (context.recipe.checked() && context.recipe.checked()->fault)
      error_state(*context.recipe.checked()->fault);
    else
      skeleton(6, px(26));
    return;
  }
  draw_sentence();
  for (size_t i = 0; i < plan_->dimensions.size(); ++i) draw_dimension(context, i);
  if (plan_->mesh) {
    draw_colour_choice(context);
    const Groups groups = plan_->mesh->groups(colour_by_);
    draw_grid(context, groups);
    draw_groups(groups);
  }
  draw_price(context);
  draw_suggestions(context);
}

namespace {
const RegisterView registration({"mesh", "Mesh", "H", make_view<ViewMesh>});
}

}  // namespace ringwright::gui

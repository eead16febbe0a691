#include "console/gui/views/view_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/gui/data/run_text.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr float kStripHeight = 36, kLabelWidth = 64, kNumbersWidth = 330;
constexpr std::array kContextParallelSizes = {1, 2, 4, 8, 16, 32, 64};
constexpr int kLabelledRanksMax = 16, kMatrixRanksMax = 8;
constexpr double kHeadTint = 0.40, kTailTint = 0.24;

std::string count_text(int64_t count) { return text::format_count(count); }

void hatch(ImDrawList* list, ImVec2 low, ImVec2 high, bool rising) {
  list->PushClipRect(low, high, true);
  const float height = high.y - low.y;
  for (float x = low.x - height; x < high.x; x += px(6)) {
    list->AddLine({x, rising ? high.y : low.y}, {x + height, rising ? low.y : high.y}, color(Token::text3), px(1));
  }
  list->PopClipRect();
  list->AddRect(low, high, color(Token::line2), 0, px(1));
}

void heading(const char* title, const std::string& facts) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  text(title, Role::heading);
  const float room = width - text_width(title, Role::heading) - px(24);
  const float facts_width = std::min(text_width(facts, Role::axis), room);
  if (room > px(80))
    text_at(ImGui::GetWindowDrawList(), {start.x + width - facts_width, start.y + px(1)}, facts, Role::axis, color(Token::text2), facts_width + 1);
}

std::string block_name(const LayoutPicture& picture, const LayoutBlock& block) {
  if (picture.replicated) return "every rank";
  const bool halves = picture.question.layout == "round_robin" && picture.question.cp > 1;
  return fmt::format("r{}{}", block.rank, halves ? (block.tail ? " tail" : " head") : "");
}

std::string range_text(const LayoutBlock& block) {
  return fmt::format("{}-{}", count_text(block.global_start), count_text(block.global_start + block.length - 1));
}

}  // namespace

void ViewLayout::add_commands(CommandRegistry& registry) {
  const auto cli = [this](const Context&) {
    return fmt::format("ringwright layout --layout {} --cp {} --length {}", question_.layout, question_.cp, question_.batch_slots);
  };
  registry.add(
      {"layout.step", "Next ring step", "Layout", 0, "", nullptr, cli, [this](Context&) { step_ = (step_ + 1) % std::max(1, question_.cp); }});
  registry.add({"layout.swap", "Swap the layout with the compared one", "Layout", 0, "", nullptr, cli, [this](Context&) {
                  if (compare_ != "off") std::swap(question_.layout, compare_);
                }});
  registry.add({"layout.from_run", "Layout of the current run", "Layout", 0, "",
                [](const Context& context) -> std::optional<std::string> {
                  return context.run() ? std::nullopt : std::optional<std::string>("no run is selected");
                },
                cli,
                [this](Context& context) {
                  const history::RunRecord& run = context.run()->record;
                  question_.cp = run.mesh.is_object() ? run.mesh.value("cp", 1) : 1;
                  const nlohmann::json length =
                      run.recipe.is_object() ? run.recipe.value(nlohmann::json::json_pointer("/policy/max_total_sequence_length"), nlohmann::json())
                                             : nlohmann::json();
                  if (length.is_number_integer()) question_.batch_slots = question_.tokens = length.get<int64_t>();
                }});
}

void ViewLayout::compute() {
  question_.tokens = std::clamp<int64_t>(question_.tokens, 0, question_.batch_slots);
  if (computed_once_ && computed_ == question_ && computed_compare_ == compare_) return;
  computed_once_ = true;
  computed_ = question_;
  computed_compare_ = compare_;
  try {
    picture_ = picture_layout(question_);
    compared_.reset();
    if (compare_ != "off" && compare_ != question_.layout) {
      LayoutQuestion other = question_;
      other.layout = compare_;
      compared_ = picture_layout(other);
    }
    fault_.reset();
  } catch (const Error& error) {
    fault_ = error.parts();
  }
  step_ = std::min(step_, std::max(0, question_.cp - 1));
  zoom_min_ = 0, zoom_max_ = 1;
}

void ViewLayout::draw_length_field(const char* id, const char* label, int64_t& value) {
  ImGui::AlignTextToFramePadding();
  text(label, Role::label, Token::text2);
  ImGui::SameLine(0, px(6));
  ImGui::SetNextItemWidth(px(84));
  const WithFont mono(Role::code);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, color(Token::line));
  const int64_t smallest = 1, largest = layout::kSequenceLengthMax / 2;
  int64_t edited = value;
  if (ImGui::InputScalar(id, ImGuiDataType_S64, &edited, nullptr, nullptr, "%lld", ImGuiInputTextFlags_EnterReturnsTrue))
    value = std::clamp(edited, smallest, largest);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

void ViewLayout::draw_controls(Context& context) {
  const std::vector<std::string>& names = layout::layout_names();
  int index = static_cast<int>(std::find(names.begin(), names.end(), question_.layout) - names.begin());
  const auto layout_name = [&](int i) { return names[static_cast<size_t>(i)]; };
  const auto gap = [] { ImGui::SameLine(0, px(12)); };
  if (choice("###layout.name", "Layout", question_.layout, static_cast<int>(names.size()), layout_name, index, 124))
    question_.layout = names[static_cast<size_t>(index)];
  gap();
  int cp_index =
      static_cast<int>(std::find(kContextParallelSizes.begin(), kContextParallelSizes.end(), question_.cp) - kContextParallelSizes.begin());
  const auto cp_name = [](int i) { return std::to_string(kContextParallelSizes[static_cast<size_t>(i)]); };
  if (choice("###layout.cp", "cp", std::to_string(question_.cp), static_cast<int>(kContextParallelSizes.size()), cp_name, cp_index, 60))
    question_.cp = kContextParallelSizes[static_cast<size_t>(cp_index)];
  gap();
  const bool filled = question_.tokens == question_.batch_slots;
  draw_length_field("###layout.batch", "Batch", question_.batch_slots);
  if (filled) question_.tokens = question_.batch_slots;
  gap();
  draw_length_field("###layout.tokens", "Tokens", question_.tokens);
  gap();
  int other = compare_ == "off" ? 0 : 1 + static_cast<int>(std::find(names.begin(), names.end(), compare_) - names.begin());
  const auto compare_name = [&](int i) { return i == 0 ? std::string("off") : names[static_cast<size_t>(i - 1)]; };
  if (choice("###layout.compare", "Compare", compare_, static_cast<int>(names.size()) + 1, compare_name, other, 124)) compare_ = compare_name(other);
  if (!context.run() || ImGui::GetContentRegionAvail().x - ImGui::GetItemRectMax().x + ImGui::GetWindowPos().x < px(110)) return;
  gap();
  if (ImGui::Button("From the run###layout.from_run")) context.commands.run("layout.from_run", context);
}

float ViewLayout::x_of(int64_t position, ImVec2 start, float width) const {
  const double share = static_cast<double>(position) / static_cast<double>(std::max<int64_t>(1, picture_.padded_length));
  return start.x + static_cast<float>((share - zoom_min_) / (zoom_max_ - zoom_min_)) * width;
}

void ViewLayout::draw_ruler(ImVec2 start, float width) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const double span = static_cast<double>(picture_.padded_length) * (zoom_max_ - zoom_min_);
  // A power of two near 100 pixels a tick: chunk edges fall on ticks.
  const double wanted = std::max(1.0, span / std::max(1.0F, width / px(110)));
  const auto tick = static_cast<int64_t>(std::exp2(std::ceil(std::log2(wanted))));
  const auto first = static_cast<int64_t>(zoom_min_ * static_cast<double>(picture_.padded_length)) / tick * tick;
  for (int64_t position = first; position <= picture_.padded_length; position += tick) {
    const float x = x_of(position, start, width);
    if (x < start.x - 1 || x > start.x + width + 1) continue;
    list->AddLine({x, start.y + px(12)}, {x, start.y + px(18)}, color(Token::line2), px(1));
    const std::string label = count_text(position);
    const float label_width = text_width(label, Role::axis);
    text_at(list, {std::clamp(x - label_width / 2, start.x, start.x + width - label_width), start.y - px(3)}, label, Role::axis, color(Token::text2));
  }
}

void ViewLayout::draw_strip_block(const Context& context, const LayoutPicture& picture, const LayoutBlock& block, ImVec2 start, float width,
                                  float height) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float left = std::round(x_of(block.global_start, start, width)),
              right = std::round(x_of(block.global_start + block.length, start, width)) - px(1);
  if (right < start.x || left > start.x + width) return;
  const Color fill = picture.replicated ? theme()[Token::neutral] : rank_color(block.rank, picture.question.cp);
  const bool lit = hovered_rank_ == block.rank || (hovered_rank_ < 0 && context.selection.rank == block.rank);
  const Color tint = lit ? fill : blend(with_alpha(fill, block.tail ? kTailTint : kHeadTint), theme()[Token::bg1]);
  list->AddRectFilled({left, start.y}, {right, start.y + height}, to_u32(tint));
  list->AddRectFilled({left, start.y + height - px(4)}, {right, start.y + height}, to_u32(fill));
  const auto pad_from = std::max(block.global_start, picture.question.tokens), batch_end = std::max(block.global_start, picture.question.batch_slots);
  const int64_t end = block.global_start + block.length;
  if (pad_from < std::min(end, batch_end)) {
    const ImVec2 low{x_of(pad_from, start, width), start.y}, high{std::min(right, x_of(std::min(end, batch_end), start, width)), start.y + height};
    list->AddRectFilled(low, high, color(Token::bg1));
    hatch(list, low, high, true);
  }
  if (batch_end < end) {
    const ImVec2 low{x_of(batch_end, start, width), start.y}, high{right, start.y + height};
    list->AddRectFilled(low, high, color(Token::bg1));
    hatch(list, low, high, false);
  }
  const std::string name = block_name(picture, block);
  const float name_width = text_width(name, Role::axis);
  const float text_right_edge = std::min(right, x_of(std::max(block.global_start, std::min(end, pad_from)), start, width));
  if (text_right_edge - left < name_width + px(8)) return;
  text_at(list, {(left + text_right_edge - name_width) / 2, start.y + (height - px(4) - font_px(Role::axis)) / 2}, name, Role::axis,
          lit ? to_u32(ink_on(fill)) : color(Token::text));
}

void ViewLayout::hover_text(const LayoutPicture& picture, int64_t position) {
  const std::string line = describe_position(picture, position);
  if (line.empty()) return;
  ImGui::BeginTooltip();
  text(line, Role::code);
  ImGui::EndTooltip();
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_C)) ImGui::SetClipboardText(line.c_str());
}

void ViewLayout::handle_zoom(ImVec2 start, float width) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsItemHovered()) return;
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  const double at = zoom_min_ + (zoom_max_ - zoom_min_) * (io.MousePos.x - start.x) / width;
  if (io.MouseWheel != 0) {
    const double factor = io.MouseWheel > 0 ? 0.8 : 1.25;
    const double span = std::clamp((zoom_max_ - zoom_min_) * factor, 16.0 / static_cast<double>(std::max<int64_t>(16, picture_.padded_length)), 1.0);
    const double share = (at - zoom_min_) / (zoom_max_ - zoom_min_);
    zoom_min_ = std::clamp(at - span * share, 0.0, 1 - span);
    zoom_max_ = zoom_min_ + span;
  }
  if (ImGui::IsMouseDragging(ImGuiMouseButton_Left) && zoom_max_ - zoom_min_ < 1) {
    const double span = zoom_max_ - zoom_min_, shift = -io.MouseDelta.x / width * span;
    zoom_min_ = std::clamp(zoom_min_ + shift, 0.0, 1 - span);
    zoom_max_ = zoom_min_ + span;
  }
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) zoom_min_ = 0, zoom_max_ = 1;
}

void ViewLayout::draw_strip(Context& context, const char* id, const LayoutPicture& picture, ImVec2 start, float width, float height) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(start, {start.x + width, start.y + height}, true);
  for (const LayoutBlock& block : picture.blocks) draw_strip_block(context, picture, block, start, width, height);
  list->PopClipRect();
  ImGui::SetCursorScreenPos(start);
  ImGui::SetNextItemAllowOverlap();
  ImGui::InvisibleButton(id, {width, height});
  handle_zoom(start, width);
  if (!ImGui::IsItemHovered()) return;
  const double share = zoom_min_ + (zoom_max_ - zoom_min_) * (ImGui::GetIO().MousePos.x - start.x) / width;
  const auto position = static_cast<int64_t>(share * static_cast<double>(picture_.padded_length));
  for (const LayoutBlock& block : picture.blocks) {
    if (position < block.global_start || position >= block.global_start + block.length) continue;
    next_hovered_rank_ = block.rank;
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) context.selection.rank = context.selection.rank == block.rank ? -1 : block.rank;
  }
  hover_text(picture, position);
}

void ViewLayout::draw_bracket(const LayoutPicture& picture, int rank, ImVec2 start, float width) const {
  std::vector<const LayoutBlock*> own;
  for (const LayoutBlock& block : picture.blocks) {
    if (block.rank == rank) own.push_back(&block);
  }
  if (own.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = to_u32(rank_color(rank, picture.question.cp));
  const auto middle = [&](const LayoutBlock& block) {
    return std::clamp(std::round(x_of(block.global_start + block.length / 2, start, width)), start.x, start.x + width);
  };
  const float left = middle(*own.front()), right = middle(*own.back()), bottom = start.y + px(11);
  for (const LayoutBlock* block : own) list->AddLine({middle(*block), start.y}, {middle(*block), bottom}, ink, px(2));
  if (own.size() > 1) list->AddLine({left, bottom}, {right, bottom}, ink, px(2));
  std::string label = fmt::format("rank {} holds {} ", rank, own.size() == 1 ? "chunk" : "chunks");
  for (size_t i = 0; i < own.size(); ++i) label += (i == 0 ? "" : i + 1 == own.size() ? " and " : ", ") + std::to_string(own[i]->chunk);
  const float label_width = text_width(label, Role::hint);
  const float x = std::clamp((left + right - label_width) / 2, start.x, start.x + width - label_width);
  list->AddRectFilled({x - px(6), bottom - px(8)}, {x + label_width + px(6), bottom + px(8)}, color(Token::bg1));
  text_at(list, {x, bottom - font_px(Role::hint) / 2 - px(1)}, label, Role::hint, color(Token::text2));
}

void ViewLayout::draw_moved(ImVec2 start, float width) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const auto& [from, to] : moved_tokens(picture_, *compared_)) {
    const float left = std::max(start.x, x_of(from, start, width)), right = std::min(start.x + width, x_of(to, start, width));
    if (right > left) list->AddRectFilled({left, start.y}, {right, start.y + px(2)}, color(Token::warn));
  }
}

void ViewLayout::draw_strips(Context& context) {
  const int64_t batch_padding = question_.batch_slots - question_.tokens;
  const float width = ImGui::GetContentRegionAvail().x;
  heading("Global sequence", fmt::format("{} slots   {} tokens   {} batch padding   {} layout padding   1 px = {:.3g} tokens   synthetic",
                                         count_text(picture_.padded_length), count_text(question_.tokens), count_text(batch_padding),
                                         count_text(picture_.layout_padding()),
                                         static_cast<double>(picture_.padded_length) * (zoom_max_ - zoom_min_) / std::max(1.0F, width)));
  ImVec2 start = ImGui::GetCursorScreenPos();
  draw_ruler(start, width);
  start.y += px(20);
  draw_strip(context, "###layout.strip", picture_, start, width, px(kStripHeight));
  start.y += px(kStripHeight) + px(2);
  if (compared_) {
    draw_moved(start, width);
    start.y += px(4);
  }
  const int rank = hovered_rank_ >= 0 ? hovered_rank_ : context.selection.rank;
  if (rank >= 0 && rank < question_.cp && !picture_.replicated) draw_bracket(picture_, rank, {start.x, start.y + px(2)}, width);
  start.y += px(24);
  if (compared_) {
    text_at(ImGui::GetWindowDrawList(), start, compare_ + ": underlined above are the tokens whose owner differs", Role::hint, color(Token::text3),
            width);
    start.y += px(18);
    draw_strip(context, "###layout.strip.compared", *compared_, start, width, px(22));
    start.y += px(26);
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy({width, px(4)});
}

void ViewLayout::draw_rank_slots(int rank, bool lit, ImVec2 start, float width, float height) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const LayoutRank& entry = picture_.ranks[static_cast<size_t>(rank)];
  const Color fill = rank_color(rank, question_.cp);
  for (const LayoutBlock& block : picture_.blocks) {
    if (block.rank != rank && !picture_.replicated) continue;
    const double scale_x = static_cast<double>(width) / static_cast<double>(std::max<int64_t>(1, entry.slots));
    const float left = start.x + static_cast<float>(std::round(static_cast<double>(block.local_start) * scale_x));
    const float right = start.x + static_cast<float>(std::round(static_cast<double>(block.local_start + block.length) * scale_x)) - px(2);
    const Color tint =
        lit ? blend(with_alpha(fill, 0.55), theme()[Token::bg1]) : blend(with_alpha(fill, block.tail ? kTailTint : kHeadTint), theme()[Token::bg1]);
    list->AddRectFilled({left, start.y}, {right, start.y + height}, to_u32(tint));
    list->AddRectFilled({left, start.y}, {left + px(4), start.y + height}, to_u32(fill));
    const int64_t padding = std::clamp<int64_t>(block.global_start + block.length - question_.tokens, 0, block.length);
    float text_end = right;
    if (padding > 0) {
      const float pad_left = left + (right - left) * static_cast<float>(block.length - padding) / static_cast<float>(block.length);
      list->AddRectFilled({pad_left, start.y}, {right, start.y + height}, color(Token::bg1));
      hatch(list, {pad_left, start.y}, {right, start.y + height}, block.global_start + block.length <= question_.batch_slots);
      text_end = pad_left;
    }
    if (height < px(16)) continue;
    const bool halves = question_.layout == "round_robin" && question_.cp > 1;
    const std::string name = (halves ? (block.tail ? "tail  " : "head  ") : "") + range_text(block);
    const Token ink = Token::text;
    if (text_end - left > px(60))
      text_at(list, {left + px(11), start.y + (height - font_px(Role::axis)) / 2}, name, Role::axis, color(ink), text_end - left - px(14));
  }
}

void ViewLayout::draw_work_bar(int rank, ImVec2 start, float width, float row_height) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = std::min(px(8), row_height - px(2)), top = std::round(start.y + (row_height - height) / 2);
  double largest = 1;
  for (const LayoutRank& entry : picture_.ranks) largest = std::max(largest, entry.of_mean);
  if (compared_) {
    for (const LayoutRank& entry : compared_->ranks) largest = std::max(largest, entry.of_mean);
  }
  const auto x = [&](double of_mean) { return start.x + static_cast<float>(of_mean / largest) * width; };
  list->AddRectFilled({start.x, top}, {start.x + width, top + height}, color(Token::bg3), px(2));
  list->AddRectFilled({start.x, top}, {x(picture_.ranks[static_cast<size_t>(rank)].of_mean), top + height}, to_u32(rank_color(rank, question_.cp)),
                      px(2));
  if (!compared_ || row_height < px(16)) return;
  const float tick = std::round(x(compared_->ranks[static_cast<size_t>(rank)].of_mean));
  list->AddRectFilled({tick - px(1), top - px(4)}, {tick + px(1), top + height + px(4)}, color(Token::text));
}

void ViewLayout::draw_rank_header(float left, float slots_width) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  text("Local slots by rank", Role::heading);
  const ImU32 ink = color(Token::text2);
  const float base = left + px(kLabelWidth) + slots_width;
  const auto right = [&](float x, const char* title) {
    text_at(list, {base + px(x) - text_width(title, Role::label), start.y}, title, Role::label, ink);
  };
  right(66, "tokens");
  right(122, "pad");
  text_at(list, {base + px(142), start.y}, "causal work", Role::label, ink);
  right(kNumbersWidth - 4, "of mean");
}

void ViewLayout::draw_rank_row(Context& context, int rank, float row_height, float slots_width) {
  ImGui::PushID(rank);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  if (ImGui::InvisibleButton("###layout.rank", {width, row_height})) context.selection.rank = context.selection.rank == rank ? -1 : rank;
  const bool hovered = ImGui::IsItemHovered();
  const bool lit = hovered_rank_ == rank || (hovered_rank_ < 0 && context.selection.rank == rank);
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (lit) list->AddRectFilled({start.x - px(4), start.y}, {start.x + width + px(4), start.y + row_height}, color(Token::sel), px(4));
  const LayoutRank& entry = picture_.ranks[static_cast<size_t>(rank)];
  const float text_y = start.y + (row_height - font_px(Role::code)) / 2 - px(1);
  const bool labelled = question_.cp <= kLabelledRanksMax;
  if (labelled || rank % 4 == 0)
    text_at(list, {start.x, labelled ? text_y : start.y - px(2)}, fmt::format("rank {}", rank), labelled ? Role::code : Role::axis,
            color(Token::text));
  const float inset = labelled ? px(4) : px(1);
  const ImVec2 slots{start.x + px(kLabelWidth), start.y + inset};
  draw_rank_slots(rank, lit, slots, slots_width, row_height - 2 * inset);
  const float base = start.x + px(kLabelWidth) + slots_width;
  draw_work_bar(rank, {base + px(142), start.y}, px(kNumbersWidth - 142 - 68), row_height);
  if (labelled) {
    const auto right = [&](float x, const std::string& value, Token ink) {
      text_at(list, {base + px(x) - text_width(value, Role::number), text_y}, value, Role::number, color(ink));
    };
    right(66, count_text(entry.tokens), Token::text);
    const int64_t padding = entry.batch_padding + entry.layout_padding;
    right(122, count_text(padding), padding > 0 ? Token::text : Token::text3);
    right(kNumbersWidth - 4, fmt::format("{:.0f} %", entry.of_mean * 100),
          rank == picture_.slowest && entry.of_mean > 1.005 ? Token::warn : Token::text);
  }
  if (hovered) {
    next_hovered_rank_ = rank;
    const float x = ImGui::GetIO().MousePos.x - slots.x;
    if (x >= 0 && x < slots_width) {
      const auto slot = static_cast<int64_t>(static_cast<double>(x) / slots_width * static_cast<double>(entry.slots));
      for (const LayoutBlock& block : picture_.blocks) {
        if ((block.rank == rank || picture_.replicated) && slot >= block.local_start && slot < block.local_start + block.length)
          hover_text(picture_, block.global_start + slot - block.local_start);
      }
    } else {
      ImGui::SetTooltip("rank %d: %s tokens, %s padding, %.0f %% of the mean work", rank, count_text(entry.tokens).c_str(),
                        count_text(entry.batch_padding + entry.layout_padding).c_str(), entry.of_mean * 100);
    }
  }
  ImGui::PopID();
}

void ViewLayout::draw_ranks(Context& context) {
  const bool labelled = question_.cp <= kLabelledRanksMax;
  const float width = ImGui::GetContentRegionAvail().x, slots_width = std::max(px(120), width - px(kLabelWidth + kNumbersWidth));
  draw_rank_header(ImGui::GetCursorScreenPos().x, slots_width);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  for (int rank = 0; rank < question_.cp; ++rank) draw_rank_row(context, rank, labelled ? px(30) : px(10), slots_width);
  ImGui::PopStyleVar();
  ImGui::Dummy({px(1), px(2)});
  text(summary_sentence(picture_, compared_ ? &*compared_ : nullptr) + (compared_ ? " The tick on a bar is " + compare_ + "." : ""), Role::label,
       Token::text2);
}

void ViewLayout::draw_mask(ImVec2 start, float cell) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const size_t count = picture_.blocks.size();
  const float left = start.x + px(44);
  text_at(list, {left, start.y}, "keys, by chunk", Role::hint, color(Token::text3));
  for (size_t query = 0; query < count; ++query) {
    const LayoutBlock& block = picture_.blocks[query];
    const float y = start.y + px(20) + static_cast<float>(query) * cell;
    const Color fill = rank_color(block.rank, question_.cp);
    text_at(list, {start.x, y + (cell - font_px(Role::axis)) / 2}, fmt::format("r{} q{}", block.rank, query), Role::axis, color(Token::text2));
    for (size_t key = 0; key < count; ++key) {
      const ImVec2 low{left + static_cast<float>(key) * cell, y}, high{low.x + cell - px(2), low.y + cell - px(2)};
      const Cell kind = mask_cell(picture_, query, key);
      const int step = ring_step(picture_, query, key);
      const bool now = step == step_, done = step < step_;
      const ImU32 ink = now ? to_u32(fill) : done ? to_u32(blend(with_alpha(fill, kHeadTint), theme()[Token::bg1])) : color(Token::bg3);
      if (kind == Cell::full) list->AddRectFilled(low, high, ink, px(2));
      if (kind == Cell::causal) list->AddTriangleFilled(low, {high.x, high.y}, {low.x, high.y}, ink);
      list->AddRect(low, high, color(now && kind != Cell::masked ? Token::text : Token::line), px(2), now && kind != Cell::masked ? px(1.5F) : px(1));
    }
  }
}

void ViewLayout::draw_step_table(const Context& context, float width) const {
  int64_t total = 0;
  std::vector<std::vector<RingStepRow>> steps;
  for (int step = 0; step < question_.cp; ++step) {
    steps.push_back(ring_step_rows(picture_, step));
    for (const RingStepRow& row : steps.back()) total += row.work;
  }
  const double mean = std::max(1.0, static_cast<double>(total) / question_.cp / question_.cp);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {px(8), px(3)});
  if (ImGui::BeginTable("###layout.steps", 5, ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_SizingStretchProp,
                        {width, 0})) {
    constexpr std::array<const char*, 5> titles = {"rank", "keys from", "blocks", "masked", "work, 1 = mean"};
    for (size_t i = 0; i < titles.size(); ++i) ImGui::TableSetupColumn(titles[i], ImGuiTableColumnFlags_WidthStretch, i == 4 ? 1.4F : 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers, px(25));
    for (size_t i = 0; i < titles.size(); ++i) {
      ImGui::TableSetColumnIndex(static_cast<int>(i));
      if (i == 0) {
        text(titles[i], Role::label, Token::text2);
      } else {
        text_right(titles[i], ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
      }
    }
    for (const RingStepRow& row : steps[static_cast<size_t>(step_)]) {
      ImGui::TableNextRow(0, px(25));
      const bool lit = hovered_rank_ == row.rank || (hovered_rank_ < 0 && context.selection.rank == row.rank);
      if (lit) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, color(Token::sel));
      ImGui::TableSetColumnIndex(0);
      const ImVec2 start = ImGui::GetCursorScreenPos();
      ImGui::GetWindowDrawList()->AddRectFilled({start.x, start.y + px(4)}, {start.x + px(11), start.y + px(15)},
                                                to_u32(rank_color(row.rank, question_.cp)), px(3));
      text_at(ImGui::GetWindowDrawList(), {start.x + px(18), start.y + px(2)}, std::to_string(row.rank), Role::number, color(Token::text));
      const std::array<std::string, 4> cells = {row.keys_from == row.rank ? "itself" : fmt::format("rank {}", row.keys_from),
                                                std::to_string(row.blocks), std::to_string(row.masked),
                                                fmt::format("{:.2f}", static_cast<double>(row.work) / mean)};
      for (size_t i = 0; i < cells.size(); ++i) {
        ImGui::TableSetColumnIndex(static_cast<int>(i) + 1);
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(2));
        const bool idle = i == 3 && row.work == 0;
        text_right(cells[i], ImGui::GetContentRegionAvail().x, Role::number, color(idle ? Token::warn : Token::text));
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  draw_work_by_step(steps, mean, width);
}

void ViewLayout::draw_work_by_step(const std::vector<std::vector<RingStepRow>>& steps, double mean, float width) const {
  ImGui::Dummy({px(1), px(6)});
  ImDrawList* list = ImGui::GetWindowDrawList();
  text("Work by step", Role::heading);
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float left = px(36), column = (width - left) / static_cast<float>(steps.size());
  double largest = 1;
  for (const auto& rows : steps) {
    for (const RingStepRow& row : rows) largest = std::max(largest, static_cast<double>(row.work) / mean);
  }
  for (size_t step = 0; step < steps.size(); ++step) {
    const float x = start.x + left + static_cast<float>(step) * column, bar = std::max(px(8), column - px(58));
    const bool now = static_cast<int>(step) == step_;
    text_at(list, {x, start.y}, fmt::format("step {}", step + 1), Role::axis, color(now ? Token::text : Token::text2));
    for (const RingStepRow& row : steps[step]) {
      const float y = start.y + px(20) + static_cast<float>(row.rank) * px(20);
      if (step == 0) text_at(list, {start.x, y}, fmt::format("r{}", row.rank), Role::axis, color(Token::text2));
      const double work = static_cast<double>(row.work) / mean;
      const Color fill = rank_color(row.rank, question_.cp);
      list->AddRectFilled({x, y + px(4)}, {x + bar, y + px(12)}, color(Token::bg3), px(2));
      list->AddRectFilled({x, y + px(4)}, {x + bar * static_cast<float>(work / largest), y + px(12)},
                          now ? to_u32(fill) : to_u32(blend(with_alpha(fill, 0.6), theme()[Token::bg1])), px(2));
      text_at(list, {x + bar + px(8), y}, fmt::format("{:.2f}", work), Role::axis,
              color(row.work == 0 ? Token::text3
                    : now         ? Token::text
                                  : Token::text2));
    }
  }
  ImGui::Dummy({width, px(20) + static_cast<float>(question_.cp) * px(20)});
}

void ViewLayout::draw_ring_steps(Context& context) {
  ImGui::Dummy({px(1), px(4)});
  heading("Ring steps", "forward   causal");
  if (picture_.replicated || question_.cp == 1 || question_.cp > kMatrixRanksMax) {
    text(question_.cp > kMatrixRanksMax ? fmt::format("Drawn up to cp {}: ringwright layout --json has them all.", kMatrixRanksMax)
                                        : "Every rank holds all keys: there is no ring.",
         Role::label, Token::text2);
    return;
  }
  ImGui::AlignTextToFramePadding();
  text("Step", Role::label, Token::text2);
  for (int step = 0; step < question_.cp; ++step) {
    ImGui::SameLine(0, step == 0 ? px(8) : px(4));
    const WithFont mono(Role::code);
    const bool current = step == step_;
    ImGui::PushStyleColor(ImGuiCol_Button, color(current ? Token::sel : Token::bg3));
    if (ImGui::Button(fmt::format("{}###layout.step.{}", step + 1, step).c_str(), {px(28), 0})) step_ = step;
    ImGui::PopStyleColor();
  }
  ImGui::SameLine(0, px(20));
  constexpr std::array<const char*, 4> legend = {"now", "done", "to come", "masked out"};
  for (size_t i = 0; i < legend.size(); ++i) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 low{start.x, start.y + px(7)}, high{start.x + px(12), start.y + px(19)};
    const Color fill = theme().series[1];
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (i < 3)
      list->AddRectFilled(low, high,
                          i == 0   ? to_u32(fill)
                          : i == 1 ? to_u32(blend(with_alpha(fill, kHeadTint), theme()[Token::bg1]))
                                   : color(Token::bg3),
                          px(2));
    list->AddRect(low, high, color(i == 0 ? Token::text : Token::line2), px(2), px(1));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + px(18));
    ImGui::AlignTextToFramePadding();
    text(legend[i], Role::label, Token::text2);
    ImGui::SameLine(0, px(14));
  }
  ImGui::NewLine();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const auto count = static_cast<float>(picture_.blocks.size());
  const float room = std::max(px(120), ImGui::GetWindowPos().y + ImGui::GetWindowHeight() - start.y - px(34));
  const float cell = std::floor(std::clamp(room / count, px(14), px(36)));
  draw_mask(start, cell);
  const float matrix_width = px(44) + count * cell + px(28);
  const float table_width = ImGui::GetContentRegionAvail().x - matrix_width;
  if (table_width > px(300)) {
    ImGui::SetCursorScreenPos({start.x + matrix_width, start.y + px(12)});
    ImGui::BeginGroup();
    draw_step_table(context, table_width);
    ImGui::EndGroup();
  }
  ImGui::SetCursorScreenPos({start.x, start.y + px(20) + count * cell});
  ImGui::Dummy({px(1), px(1)});
}

void ViewLayout::draw(Context& context) {
  draw_controls(context);
  compute();
  ImGui::Dummy({px(1), px(2)});
  if (fault_) {
    error_state(*fault_);
    return;
  }
  next_hovered_rank_ = -1;
  draw_strips(context);
  draw_ranks(context);
  draw_ring_steps(context);
  hovered_rank_ = next_hovered_rank_;
}

namespace {
const RegisterView registration({"layout", "Layout", "Y", make_view<ViewLayout>});
}

}  // namespace ringwright::gui

// The global sequence of the Layout view: strips from the whole sequence down to cells of single tokens. What a frame costs goes by the pixels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "console/gui/views/layout_look.h"
#include "console/gui/views/view_layout.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr float kStripHeight = 36, kComparedHeight = 22, kEdgeHeight = 4, kMinimapHeight = 20;
constexpr float kCellWidthMin = 9;      // below it tokens are no cells
constexpr float kDocumentWidthMin = 4;  // below it edges of documents run together
constexpr double kWheelZoom = 0.75;
constexpr size_t kChunksNamedMax = 4;

std::string block_name(const LayoutPicture& picture, const LayoutBlock& block) {
  if (picture.replicated) return "every rank";
  return fmt::format("r{}{}", block.rank, picture.has_halves() ? (block.tail ? " tail" : " head") : "");
}

std::string slot_text(const LayoutPicture& picture, const LayoutBlock& block, int64_t position) {
  const std::string slot = count_text(local_slot(block, position));
  return picture.replicated ? fmt::format("slot {}", slot) : fmt::format("r{} {}", block.rank, slot);
}

ShortText scale_text(double pixels_of_token) {
  return pixels_of_token < 1 ? ShortText("1 px = {:.3g} tokens", 1 / pixels_of_token) : ShortText("1 token = {:.3g} px", pixels_of_token);
}

Color fill_of(const LayoutPicture& picture, const LayoutBlock& block) {
  return picture.replicated ? theme()[Token::neutral] : rank_color(block.rank, picture.question.cp);
}

}  // namespace

float ViewLayout::x_of(int64_t position, ImVec2 start, float width) const {
  // Far outside is outside: a float holds no such place to the pixel.
  return start.x + static_cast<float>(std::clamp(zoom_.share_of(position), -1.0, 2.0)) * width;
}

bool ViewLayout::is_lit(const Context& context, int rank) const {
  return hovered_rank_ == rank || (hovered_rank_ < 0 && context.selection.rank == rank);
}

void ViewLayout::draw_ruler(ImVec2 start, float width) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  // A power of two near 110 pixels a tick: chunk edges fall on ticks.
  const double wanted = std::max(1.0, zoom_.span() / std::max(1.0F, width / px(110)));
  const auto tick = static_cast<int64_t>(std::exp2(std::ceil(std::log2(wanted))));
  for (int64_t position = zoom_.first_shown() / tick * tick; position <= zoom_.end_shown(); position += tick) {
    const float x = x_of(position, start, width);
    if (x < start.x - 1 || x > start.x + width + 1) continue;
    list->AddLine({x, start.y + px(12)}, {x, start.y + px(18)}, color(Token::line2), px(1));
    const std::string label = count_text(position);
    const float label_width = text_width(label, Role::axis);
    text_at(list, {std::clamp(x - label_width / 2, start.x, start.x + width - label_width), start.y - px(3)}, label, Role::axis, color(Token::text2));
  }
}

// Of blocks that lie within one pixel the first.
void ViewLayout::find_blocks_shown(const LayoutPicture& picture, const StripPlace& place) {
  shown_.clear();
  for (size_t i = block_index(picture, zoom_.first_shown()); i < picture.blocks.size();) {
    const LayoutBlock& block = picture.blocks[i];
    if (block.global_start >= zoom_.end_shown()) break;
    shown_.push_back(i);
    const double left = std::max(0.0, zoom_.share_of(block.global_start)), pixel = 1.0 / place.width;
    if (zoom_.share_of(block.global_end()) >= left + pixel) {
      ++i;
    } else {
      i = std::max(i + 1, block_index(picture, zoom_.position_at(left + pixel)));
    }
  }
}

void ViewLayout::draw_block(const LayoutPicture& picture, const LayoutBlock& block, bool lit, const StripPlace& place) const {
  const float left = std::max(place.start.x - px(1), std::round(x_of(block.global_start, place.start, place.width)));
  const float right = std::max(left + 1, std::min(place.end() + px(1), std::round(x_of(block.global_end(), place.start, place.width)) - px(1)));
  const Color fill = fill_of(picture, block);
  const float bottom = place.start.y + place.height;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({left, place.start.y}, {right, bottom}, to_u32(lit ? fill : tinted(fill, block.tail ? kTailTint : kHeadTint)));
  list->AddRectFilled({left, bottom - px(kEdgeHeight)}, {right, bottom}, to_u32(fill));
}

// In the middle of what is shown of the block, before its padding.
void ViewLayout::draw_block_name(const LayoutPicture& picture, const LayoutBlock& block, bool lit, const StripPlace& place) {
  const int64_t from = std::max(block.global_start, zoom_.first_shown()), to = std::min(block.global_end(), zoom_.end_shown());
  const float left = std::max(place.start.x, x_of(from, place.start, place.width));
  float right = std::min(place.end(), x_of(to, place.start, place.width));
  if (right - left < px(20)) return;
  padded_stretches_into(padded_, picture, from, to);
  if (!padded_.empty()) right = std::min(right, x_of(padded_.front().start, place.start, place.width));
  const std::string name = block_name(picture, block);
  const float name_width = text_width(name, Role::axis);
  if (right - left < name_width + px(8)) return;
  text_at(ImGui::GetWindowDrawList(), {(left + right - name_width) / 2, place.start.y + (place.height - px(kEdgeHeight) - font_px(Role::axis)) / 2},
          name, Role::axis, lit ? to_u32(ink_on(fill_of(picture, block))) : color(Token::text));
}

void ViewLayout::draw_padding(const LayoutPicture& picture, const StripPlace& place) {
  padded_stretches_into(padded_, picture, zoom_.first_shown(), zoom_.end_shown());
  for (const PaddedStretch& stretch : padded_) {
    const ImVec2 low{std::max(place.start.x - px(1), x_of(stretch.start, place.start, place.width)), place.start.y};
    const ImVec2 high{std::min(place.end() + px(1), x_of(stretch.end, place.start, place.width)), place.start.y + place.height};
    if (high.x - low.x < 1) continue;
    ImGui::GetWindowDrawList()->AddRectFilled(low, high, color(Token::bg1));
    hatch(ImGui::GetWindowDrawList(), low, high, !stretch.of_layout);
  }
}

// Notches at the top and the bottom.
void ViewLayout::draw_document_edges(const LayoutPicture& picture, const StripPlace& place) const {
  if (picture.question.documents < 2) return;
  const float document_width = static_cast<float>(zoom_.pixels_of_token(place.width) * static_cast<double>(picture.document_slots));
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (document_width < px(kDocumentWidthMin)) {
    list->AddRectFilled(place.start, {place.end(), place.start.y + px(2)}, color(Token::text2));
    return;
  }
  const float notch = px(place.height < px(kStripHeight) ? 3 : 8);  // beside the names, never through them
  const int64_t first = std::max<int64_t>(1, zoom_.first_shown() / picture.document_slots);
  for (int64_t document = first; document <= picture.question.documents; ++document) {
    const int64_t position = document * picture.document_slots;
    if (position >= zoom_.end_shown()) break;
    const float x = std::round(x_of(position, place.start, place.width)), bottom = place.start.y + place.height;
    list->AddLine({x, place.start.y}, {x, place.start.y + notch}, color(Token::text), px(2));
    list->AddLine({x, bottom - notch}, {x, bottom}, color(Token::text), px(2));
  }
}

bool ViewLayout::cells_have_labels(const LayoutPicture& picture, float width) const {
  const auto pixels = static_cast<float>(zoom_.pixels_of_token(width));
  if (pixels < px(kCellWidthMin) || picture.blocks.empty()) return false;
  const std::string widest = slot_text(picture, picture.blocks.back(), picture.blocks.back().global_end() - 1);
  return pixels >= std::max(text_width(count_text(picture.padded_length), Role::axis), text_width(widest, Role::axis) + px(14)) + px(8);
}

// The position above, its owner and slot below; where there is room for one line, the second.
void ViewLayout::draw_cell_label(const LayoutPicture& picture, const LayoutBlock& block, int64_t position, bool lit, const StripPlace& place) const {
  const float left = x_of(position, place.start, place.width), right = x_of(position + 1, place.start, place.width);
  if (left < place.start.x || right > place.end()) return;
  const bool is_token = tokens_between(picture, position, position + 1) > 0;
  const bool both = place.height >= px(kStripHeight);
  const std::string labels[] = {count_text(position), slot_text(picture, block, position)};
  const ImU32 ink = lit && is_token ? to_u32(ink_on(fill_of(picture, block))) : color(Token::text);
  const float line = px(14), top = place.start.y + (place.height - px(kEdgeHeight) - line * (both ? 2 : 1)) / 2;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (int i = both ? 0 : 1; i < 2; ++i) {
    const float width = text_width(labels[i], Role::axis), x = (left + right - width) / 2;
    const float y = top + (both ? static_cast<float>(i) * line : 0);
    if (!is_token) list->AddRectFilled({x - px(3), y}, {x + width + px(3), y + line}, color(Token::bg1));  // the lines of padding end before it
    text_at(list, {x, y}, labels[i], Role::axis, ink);
  }
}

void ViewLayout::draw_cells(const Context& context, const LayoutPicture& picture, const StripPlace& place, bool labelled) const {
  if (zoom_.pixels_of_token(place.width) < px(kCellWidthMin)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int64_t end = std::min(zoom_.end_shown(), picture.padded_length);
  for (int64_t position = zoom_.first_shown(); position < end; ++position) {
    const LayoutBlock& block = picture.blocks[block_index(picture, position)];
    const float x = std::round(x_of(position, place.start, place.width));
    const float tick = labelled ? place.height : px(6);
    if (position > block.global_start) list->AddLine({x, place.start.y}, {x, place.start.y + tick}, color(Token::bg1), px(1));
    if (labelled) draw_cell_label(picture, block, position, is_lit(context, block.rank), place);
  }
}

void ViewLayout::hover_text(const LayoutPicture& picture, int64_t position) {
  const std::string line = describe_position(picture, position);
  if (line.empty()) return;
  ImGui::BeginTooltip();
  text(line, Role::code);
  ImGui::EndTooltip();
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_C)) ImGui::SetClipboardText(line.c_str());
}

// The wheel zooms at the pointer, dragging pans, a click picks the rank, a double click shows everything again.
void ViewLayout::take_mouse(Context& context, const LayoutPicture& picture, const StripPlace& place, bool clicked) {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) zoom_.pan(-static_cast<double>(io.MouseDelta.x) / place.width);
  if (!ImGui::IsItemHovered()) return;
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  pointer_share_ = (io.MousePos.x - place.start.x) / place.width;
  if (io.MouseWheel != 0) zoom_.zoom(std::pow(kWheelZoom, io.MouseWheel), pointer_share_);
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) zoom_.show_all();
  const int64_t position = zoom_.position_at(pointer_share_);
  const size_t index = block_index(picture, position);
  if (index < picture.blocks.size()) {
    const int rank = picture.blocks[index].rank;
    next_hovered_rank_ = rank;
    const bool dragged = io.MouseDragMaxDistanceSqr[ImGuiMouseButton_Left] >= io.MouseDragThreshold * io.MouseDragThreshold;
    if (clicked && !dragged) context.selection.rank = context.selection.rank == rank ? -1 : rank;
  }
  hover_text(picture, position);
}

void ViewLayout::draw_strip(Context& context, const char* id, const LayoutPicture& picture, const StripPlace& place) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(place.start, {place.end(), place.start.y + place.height}, true);
  find_blocks_shown(picture, place);
  for (const size_t i : shown_) draw_block(picture, picture.blocks[i], is_lit(context, picture.blocks[i].rank), place);
  draw_padding(picture, place);
  draw_document_edges(picture, place);
  const bool labelled = cells_have_labels(picture, place.width);
  draw_cells(context, picture, place, labelled);
  if (!labelled) {
    for (const size_t i : shown_) draw_block_name(picture, picture.blocks[i], is_lit(context, picture.blocks[i].rank), place);
  }
  list->PopClipRect();
  ImGui::SetCursorScreenPos(place.start);
  ImGui::SetNextItemAllowOverlap();
  const bool clicked = ImGui::InvisibleButton(id, {place.width, place.height});
  take_mouse(context, picture, place, clicked);
}

// The chunks of a rank, as far as they are shown.
void ViewLayout::draw_bracket(const LayoutPicture& picture, int rank, ImVec2 start, float width) const {
  const std::vector<size_t>& own = picture.ranks[static_cast<size_t>(rank)].blocks;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = to_u32(rank_color(rank, picture.question.cp));
  const float bottom = start.y + px(11);
  float left = start.x + width, right = start.x, drawn_to = start.x - 1;
  ShortText chunks("");
  for (size_t i = 0; i < own.size(); ++i) {
    const LayoutBlock& block = picture.blocks[own[i]];
    if (i < kChunksNamedMax) chunks.add("{}{}", i == 0 ? "" : i + 1 == own.size() ? " and " : ", ", count_text(block.chunk));
    const float middle = std::round(x_of(block.global_start + block.length / 2, start, width));
    left = std::min(left, std::clamp(middle, start.x, start.x + width)), right = std::max(right, std::clamp(middle, start.x, start.x + width));
    if (middle < start.x || middle > start.x + width || middle < drawn_to + 1) continue;
    list->AddLine({middle, start.y}, {middle, bottom}, ink, px(2));
    drawn_to = middle;
  }
  if (own.empty()) return;
  if (own.size() > 1) list->AddLine({left, bottom}, {right, bottom}, ink, px(2));
  const auto count = static_cast<int64_t>(own.size());
  const ShortText label = own.size() > kChunksNamedMax ? ShortText("rank {} holds {} chunks", rank, count_text(count))
                                                       : ShortText("rank {} holds chunk{} {}", rank, own.size() == 1 ? "" : "s", chunks.view());
  const float label_width = text_width(label, Role::hint);
  const float x = std::clamp((left + right - label_width) / 2, start.x, start.x + width - label_width);
  list->AddRectFilled({x - px(6), bottom - px(8)}, {x + label_width + px(6), bottom + px(8)}, color(Token::bg1));
  text_at(list, {x, bottom - font_px(Role::hint) / 2 - px(1)}, label, Role::hint, color(Token::text2));
}

void ViewLayout::draw_moved(ImVec2 start, float width) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int64_t first = zoom_.first_shown();
  auto stretch = std::partition_point(moved_.begin(), moved_.end(), [&](const auto& each) { return each.second <= first; });
  float drawn_to = start.x - 1;
  for (; stretch != moved_.end() && stretch->first < zoom_.end_shown(); ++stretch) {
    const float left = std::max(start.x, x_of(stretch->first, start, width)), right = std::min(start.x + width, x_of(stretch->second, start, width));
    if (right <= drawn_to + 0.5F) continue;
    list->AddRectFilled({left, start.y}, {std::max(right, left + 1), start.y + px(2)}, color(Token::warn));
    drawn_to = std::max(right, left + 1);
  }
}

// The whole sequence, with a frame around what the strips show. A click or a drag goes there.
void ViewLayout::draw_minimap_bar(ImVec2 start, float width) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float top = start.y + px(5), bottom = start.y + px(13);
  const auto length = static_cast<double>(zoom_.length());
  const auto x = [&](double position) { return start.x + static_cast<float>(position / length) * width; };
  float drawn_to = start.x;
  for (size_t i = 0; i < picture_.blocks.size() && drawn_to < start.x + width;) {
    const LayoutBlock& block = picture_.blocks[i];
    const float right = std::max(drawn_to + 1, std::round(x(static_cast<double>(block.global_end()))));
    list->AddRectFilled({drawn_to, top}, {right, bottom}, to_u32(tinted(fill_of(picture_, block), block.tail ? kTailTint : kHeadTint)));
    drawn_to = right;
    i = std::max(i + 1, block_index(picture_, static_cast<int64_t>((right - start.x) / width * length)));
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::InvisibleButton("###layout.minimap", {width, px(18)});
  if (ImGui::IsItemActive()) zoom_.center((ImGui::GetIO().MousePos.x - start.x) / width * length);
  const float left = std::min(std::round(x(zoom_.first())), start.x + width - px(4)), right = std::round(x(zoom_.first() + zoom_.span()));
  list->AddRect({left - px(1), top - px(3)}, {std::max(left + px(3), right) + px(1), bottom + px(3)},
                color(ImGui::IsItemHovered() ? Token::accent : Token::text), px(2), px(1.5F));
}

void ViewLayout::draw_minimap(Context& context) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (zoom_.is_whole()) {
    constexpr std::string_view keys = "wheel zooms, drag moves   W S A D   F all";
    const float keys_width = text_width(keys, Role::axis);
    const std::string_view words = origin_words(context);
    const bool keys_fit = keys_width + px(80) < width;
    text_at(list, start, words, Role::hint, color(Token::text2), width - (keys_fit ? keys_width + px(16) : 0));
    if (keys_fit) text_at(list, {start.x + width - keys_width, start.y}, keys, Role::axis, color(Token::text3));
  } else {
    const ShortText shown("tokens {}", shown_text(zoom_));
    const float shown_width = text_width(shown, Role::axis), button = text_width("All", Role::body) + px(20);
    const float bar = width - shown_width - button - px(28);
    if (bar > px(60)) draw_minimap_bar(start, bar);
    text_at(list, {start.x + std::max(0.0F, width - shown_width - button - px(12)), start.y + px(1)}, shown, Role::axis, color(Token::text));
    ImGui::SetCursorScreenPos({start.x + width - button, start.y - px(1)});
    if (ImGui::SmallButton("All###layout.fit")) context.commands.run("layout.fit", context);
  }
  ImGui::SetCursorScreenPos({start.x, start.y + px(kMinimapHeight)});
}

void ViewLayout::draw_strips(Context& context) {
  const int64_t batch_padding = question_.batch_slots - question_.tokens;
  const float width = ImGui::GetContentRegionAvail().x;
  layout_heading("Global sequence",
                 ShortText("{}   {} slots   {} tokens   {} batch padding   {} layout padding   {}", origin_text(), count_text(picture_.padded_length),
                           count_text(question_.tokens), count_text(batch_padding), count_text(picture_.layout_padding()),
                           scale_text(zoom_.pixels_of_token(std::max(1.0F, width))).view()));
  draw_minimap(context);
  pointer_share_ = 0.5;
  ImVec2 start = ImGui::GetCursorScreenPos();
  draw_ruler(start, width);
  start.y += px(20);
  draw_strip(context, "###layout.strip", picture_, {start, width, px(kStripHeight)});
  start.y += px(kStripHeight) + px(2);
  if (compared_) {
    draw_moved(start, width);
    start.y += px(4);
  }
  const int rank = hovered_rank_ >= 0 ? hovered_rank_ : context.selection.rank;
  if (rank >= 0 && rank < question_.cp && !picture_.replicated) draw_bracket(picture_, rank, {start.x, start.y + px(2)}, width);
  start.y += px(24);
  if (compared_) {
    text_at(ImGui::GetWindowDrawList(), start, ShortText("{}: underlined above are the tokens whose owner differs", compare_), Role::hint,
            color(Token::text3), width);
    start.y += px(18);
    draw_strip(context, "###layout.strip.compared", *compared_, {start, width, px(kComparedHeight)});
    start.y += px(26);
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy({width, px(4)});
}

}  // namespace ringwright::gui

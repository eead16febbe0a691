#include "console/gui/views/view_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/gui/services/recipe_commands.h"
#include "console/gui/views/layout_look.h"
#include "console/gui/widgets/short_text.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

constexpr float kLabelWidth = 64, kNumbersWidth = 330;
constexpr std::array kContextParallelSizes = {1, 2, 4, 8, 16, 32, 64};
constexpr int kLabelledRanksMax = 16;
constexpr int64_t kDocumentsNamedMax = 32;  // on a command line
constexpr double kKeyZoom = 0.7, kKeyPan = 0.2;

std::string range_text(const LayoutBlock& block) {
  return fmt::format("{}-{}", count_text(block.global_start), count_text(block.global_start + block.length - 1));
}

std::optional<std::string> no_recipe_stream(const Context& context) {
  if (!context.recipe.is_open()) return "no recipe is open";
  const auto& checked = context.recipe.loaded();
  if (!checked) return "the recipe is being read";
  return checked->stream ? std::nullopt : std::optional<std::string>("the recipe's batch is not known");
}

// Where there is room for it.
void button_in_line(Context& context, const char* label, const char* command) {
  const float width = text_width("Of the recipe", Role::body) + px(24);
  if (ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - ImGui::GetItemRectMax().x < width + px(24)) return;
  ImGui::SameLine(0, px(12));
  if (ImGui::Button(label)) context.commands.run(command, context);
}

}  // namespace

std::string ViewLayout::cli_line(const Context& context) const {
  const std::string layout = fmt::format("--layout {} --cp {}", question_.layout, question_.cp);
  const bool names_documents = question_.documents > 1 && question_.documents <= kDocumentsNamedMax;
  if (origin_ == Origin::recipe && !names_documents) return fmt::format("ringwright layout {} {}", recipe_argument(context), layout);
  std::string line = fmt::format("ringwright layout {}", layout);
  if (!names_documents) return line + fmt::format(" --length {}", question_.batch_slots);
  line += " --documents ";
  for (int64_t i = 0; i < question_.documents; ++i) line += fmt::format("{}{}", i == 0 ? "" : ",", question_.tokens / question_.documents);
  return line;
}

void ViewLayout::add_commands(CommandRegistry& registry) {
  const auto cli = [this](const Context& context) { return cli_line(context); };
  const auto add = [&](const char* id, const char* title, ImGuiKeyChord chord, const char* keys, std::function<void(Context&)> run) {
    registry.add({id, title, "Layout", chord, keys, nullptr, nullptr, std::move(run), ImGuiKey_None, "layout"});
  };
  add("layout.zoom_in", "Zoom into the sequence", ImGuiKey_W, "W", [this](Context&) { zoom_.zoom(kKeyZoom, pointer_share_); });
  add("layout.zoom_out", "Zoom out of the sequence", ImGuiKey_S, "S", [this](Context&) { zoom_.zoom(1 / kKeyZoom, pointer_share_); });
  add("layout.left", "Earlier tokens", ImGuiKey_A, "A", [this](Context&) { zoom_.pan(-kKeyPan); });
  add("layout.right", "Later tokens", ImGuiKey_D, "D", [this](Context&) { zoom_.pan(kKeyPan); });
  add("layout.fit", "Show the whole sequence", ImGuiKey_F, "F", [this](Context&) { zoom_.show_all(); });
  add("layout.step", "Next ring step", ImGuiKey_Period, ".", [this](Context&) { step_ = (step_ + 1) % std::max(1, question_.cp); });
  add("layout.step_previous", "Ring step before", ImGuiKey_Comma, ",",
      [this](Context&) { step_ = (step_ + std::max(1, question_.cp) - 1) % std::max(1, question_.cp); });
  registry.add({"layout.swap", "Swap the layout with the compared one", "Layout", 0, "", nullptr, cli, [this](Context&) {
                  if (compare_ != "off") std::swap(question_.layout, compare_);
                }});
  registry.add({"layout.from_recipe", "Layout of the open recipe's batch", "Layout", 0, "", no_recipe_stream, cli, [this](Context& context) {
                  origin_ = Origin::synthetic;
                  stream_.reset();
                  followed_.reset();
                  follow_recipe(context);
                }});
  registry.add({"layout.from_run", "Layout of the current run", "Layout", 0, "",
                [](const Context& context) -> std::optional<std::string> {
                  return context.run() ? std::nullopt : std::optional<std::string>("no run is selected");
                },
                cli, [this](Context& context) { take_run(context.run()->record); }});
}

void ViewLayout::ask(const LayoutQuestion& question) {
  question_ = question;
  origin_ = Origin::typed;
}

void ViewLayout::take_run(const history::RunRecord& run) {
  origin_ = Origin::run;
  question_.cp = run.mesh.is_object() ? run.mesh.value("cp", 1) : 1;
  question_.documents = 1, question_.chunk = 0;
  const nlohmann::json length = run.recipe.is_object()
                                    ? run.recipe.value(nlohmann::json::json_pointer("/policy/max_total_sequence_length"), nlohmann::json())
                                    : nlohmann::json();
  if (length.is_number_integer()) question_.batch_slots = question_.tokens = length.get<int64_t>();
}

// The open recipe's batch is shown until somebody asks for another, and again when the recipe changes its own.
void ViewLayout::follow_recipe(const Context& context) {
  if (origin_ != Origin::synthetic && origin_ != Origin::recipe) return;
  const auto& checked = context.recipe.loaded();
  if (!checked || checked == followed_) return;
  followed_ = checked;
  const std::optional<RecipeStream>& stream = checked->stream;
  if (stream && stream == stream_) return;
  stream_ = stream;
  origin_ = stream ? Origin::recipe : Origin::synthetic;
  if (stream) question_ = stream->question;
}

// "of the recipe", "of the recipe (there thd, cp 2)": where the numbers come from.
std::string ViewLayout::origin_text() const {
  switch (origin_) {
    case Origin::synthetic:
      return "synthetic";
    case Origin::recipe:
      break;
    case Origin::run:
      return "of the run";
    case Origin::typed:
      return "typed";
  }
  const LayoutQuestion& own = stream_->question;
  if (own.layout == question_.layout && own.cp == question_.cp) return "of the recipe";
  return fmt::format("of the recipe (there {}, cp {})", own.layout, own.cp);
}

std::string_view ViewLayout::origin_words(const Context& context) const {
  if (origin_ == Origin::recipe) return stream_->words;
  if (origin_ == Origin::typed) return "one sequence of your own";
  if (origin_ == Origin::run) return "a sequence of the run's length";
  return context.recipe.is_open() ? "made-up numbers: the recipe's batch is not known" : "made-up numbers: open a recipe to see its batch";
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
    moved_.clear();
    if (compare_ != "off" && compare_ != question_.layout) {
      LayoutQuestion other = question_;
      other.layout = compare_;
      compared_ = picture_layout(other);
      moved_ = moved_tokens(picture_, *compared_);
    }
    summary_ = summary_sentence(picture_, compared_ ? &*compared_ : nullptr) + (compared_ ? fmt::format(" The tick on a bar is {}.", compare_) : "");
    fault_.reset();
    compute_ring_steps();
    if (zoom_.length() != picture_.padded_length) zoom_.show_all(picture_.padded_length);
  } catch (const Error& error) {
    fault_ = error.parts();
  }
  step_ = std::min(step_, std::max(0, question_.cp - 1));
}

bool ViewLayout::draw_length_field(const char* id, const char* label, int64_t& value) {
  ImGui::AlignTextToFramePadding();
  text(label, Role::label, Token::text2);
  ImGui::SameLine(0, px(6));
  ImGui::SetNextItemWidth(px(76));
  const WithFont mono(Role::code);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, px(1));
  ImGui::PushStyleColor(ImGuiCol_Border, color(Token::line));
  const int64_t smallest = 1, largest = layout::kSequenceLengthMax / 2;
  int64_t edited = value;
  const bool entered = ImGui::InputScalar(id, ImGuiDataType_S64, &edited, nullptr, nullptr, "%lld", ImGuiInputTextFlags_EnterReturnsTrue);
  if (entered) value = std::clamp(edited, smallest, largest);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  return entered;
}

// Numbers of one's own are one sequence.
void ViewLayout::draw_batch_fields() {
  const bool filled = question_.tokens == question_.batch_slots;
  const bool batch_typed = draw_length_field("###layout.batch", "Batch", question_.batch_slots);
  if (batch_typed && filled) question_.tokens = question_.batch_slots;
  ImGui::SameLine(0, px(12));
  const bool tokens_typed = draw_length_field("###layout.tokens", "Tokens", question_.tokens);
  if (!batch_typed && !tokens_typed) return;
  origin_ = Origin::typed;
  question_.documents = 1, question_.chunk = 0;
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
  draw_batch_fields();
  gap();
  int other = compare_ == "off" ? 0 : 1 + static_cast<int>(std::find(names.begin(), names.end(), compare_) - names.begin());
  const auto compare_name = [&](int i) { return i == 0 ? std::string("off") : names[static_cast<size_t>(i - 1)]; };
  if (choice("###layout.compare", "Compare", compare_, static_cast<int>(names.size()) + 1, compare_name, other, 124)) compare_ = compare_name(other);
  if (context.recipe.is_open() && origin_ != Origin::recipe) button_in_line(context, "Of the recipe###layout.from_recipe", "layout.from_recipe");
  if (context.run() && origin_ != Origin::run) button_in_line(context, "Of the run###layout.from_run", "layout.from_run");
}

void ViewLayout::draw_rank_slots(int rank, bool lit, ImVec2 start, float width, float height) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const LayoutRank& entry = picture_.ranks[static_cast<size_t>(rank)];
  const Color fill = rank_color(rank, question_.cp);
  const double scale_x = static_cast<double>(width) / static_cast<double>(std::max<int64_t>(1, entry.slots));
  float drawn_to = start.x - 1;
  for (const size_t index : entry.blocks) {
    const LayoutBlock& block = picture_.blocks[index];
    const float left = start.x + static_cast<float>(std::round(static_cast<double>(block.local_start) * scale_x));
    const float behind = start.x + static_cast<float>(std::round(static_cast<double>(block.local_start + block.length) * scale_x));
    if (behind <= drawn_to) continue;  // under its neighbour's pixels
    const float right = std::max(left + 1, behind - px(2));
    drawn_to = std::max(behind, left + 1);
    list->AddRectFilled({left, start.y}, {right, start.y + height}, to_u32(tinted(fill, lit ? 0.55 : block.tail ? kTailTint : kHeadTint)));
    list->AddRectFilled({left, start.y}, {std::min(right, left + px(4)), start.y + height}, to_u32(fill));
    const auto x = [&](int64_t position) {
      const double share = static_cast<double>(position - block.global_start) / static_cast<double>(block.length);
      return left + (right - left) * static_cast<float>(share);
    };
    padded_stretches_into(padded_, picture_, block.global_start, block.global_end());
    for (const PaddedStretch& stretch : padded_) {
      const ImVec2 low{x(stretch.start), start.y}, high{x(stretch.end), start.y + height};
      if (high.x - low.x < 1) continue;
      list->AddRectFilled(low, high, color(Token::bg1));
      hatch(list, low, high, !stretch.of_layout);
    }
    const float text_end = padded_.empty() ? right : x(padded_.front().start);
    draw_shown_part(block, {left, start.y}, right - left, height);
    if (height < px(16)) continue;
    const ShortText name("{}{}", picture_.has_halves() ? (block.tail ? "tail  " : "head  ") : "", range_text(block));
    const Token ink = Token::text;
    if (text_end - left > px(60))
      text_at(list, {left + px(11), start.y + (height - font_px(Role::axis)) / 2}, name, Role::axis, color(ink), text_end - left - px(14));
  }
}

// What of a block the strip shows, once that is a part of the sequence.
void ViewLayout::draw_shown_part(const LayoutBlock& block, ImVec2 start, float width, float height) const {
  if (zoom_.is_whole()) return;
  const int64_t from = std::max(block.global_start, zoom_.first_shown()), to = std::min(block.global_end(), zoom_.end_shown());
  if (from >= to) return;
  const auto x = [&](int64_t position) {
    return start.x + width * static_cast<float>(static_cast<double>(position - block.global_start) / static_cast<double>(block.length));
  };
  const float left = std::round(x(from)), right = std::max(left + px(3), std::round(x(to)));
  const float line = height < px(16) ? px(2) : px(3);
  ImGui::GetWindowDrawList()->AddRectFilled({left, start.y + height - line}, {right, start.y + height}, color(Token::text));
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
  const bool lit = is_lit(context, rank);
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
      for (const size_t index : entry.blocks) {
        const LayoutBlock& block = picture_.blocks[index];
        if (slot >= block.local_start && slot < block.local_start + block.length) hover_text(picture_, block.global_start + slot - block.local_start);
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
  text(summary_, Role::label, Token::text2);
}

void ViewLayout::draw(Context& context) {
  follow_recipe(context);
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

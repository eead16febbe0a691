#include "console/gui/views/sample_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "console/gui/data/sample_text.h"
#include "console/gui/views/loss_tokens.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr float kListHeightShare = 0.45F, kRowHeight = 25;
constexpr float kRankWidth = 34, kTextWidthMin = 110, kNumberWidthMin = 64, kNumberWidthMax = 96;  // design pixels
constexpr size_t kTextColumnsMax = 2;
constexpr size_t kCellBytesMax = 400;  // more than any cell has room for
constexpr const char* kAsTheyCame = "as they came";
constexpr const char* kForms[] = {"text", "tokens", "ids", "raw"};
enum Form { kText, kTokens, kIds, kRaw };

// "logprob_gap" -> "logprob gap"
std::string title_of(std::string field) {
  std::replace(field.begin(), field.end(), '_', ' ');
  return visible_bytes(field);
}

// What a row shows of a text that may be long.
std::string cell_text(const history::SampleRecord& sample, const std::string& field) {
  return text::one_line(visible_bytes(text::excerpt(history::sample_field(sample, field.c_str()), kCellBytesMax)));
}

// Prompt and reply, or what the samples have in their place.
std::vector<std::string> text_columns(const std::deque<history::SampleRecord>& samples, const std::vector<size_t>& listed) {
  std::vector<std::string> columns;
  for (const size_t position : listed) {
    for (const std::string& field : history::text_fields(samples[position]))
      if (columns.size() < kTextColumnsMax && std::find(columns.begin(), columns.end(), field) == columns.end()) columns.push_back(field);
    if (columns.size() == kTextColumnsMax) break;
  }
  return columns;
}

}  // namespace

SampleList::SampleList(std::string view, SampleWords words, const history::Activity* activity, std::vector<std::string> always)
    : view_(std::move(view)), words_(words), activity_(activity), always_(std::move(always)) {}

void SampleList::add_commands(CommandRegistry& registry, const std::string& group) {
  const auto none = [this](const Context&) { return listed_.empty() ? std::optional(fmt::format("no {} is shown", words_.one)) : std::nullopt; };
  const auto cli = [this](const Context& context) {
    std::string line = "ringwright runs samples " + context.selection.run;
    if (activity_ != nullptr) line += fmt::format(" --of {}", activity_->name);
    if (context.selection.step) line += fmt::format(" --step {}", *context.selection.step);
    return line;
  };
  const auto add = [&](const char* name, std::string title, ImGuiKey key, const char* keys, std::function<void(Context&)> run) {
    registry.add({fmt::format("{}.{}", view_, name), std::move(title), group, key, keys, none, cli, std::move(run), ImGuiKey_None, view_});
  };
  add("next", fmt::format("Next {}", words_.one), ImGuiKey_J, "J", [this](Context&) { move(1); });
  add("previous", fmt::format("Previous {}", words_.one), ImGuiKey_K, "K", [this](Context&) { move(-1); });
  add("order", fmt::format("Another order of {}", words_.many), ImGuiKey_O, "O", [this](Context&) {
    const auto next = order_.empty() ? numbers_.begin() : std::find(numbers_.begin(), numbers_.end(), order_) + 1;
    order_ = next == numbers_.end() ? "" : *next;
  });
  add("form", fmt::format("Another form of the {}", words_.one), ImGuiKey_B, "B",
      [this](Context&) { form_ = (form_ + 1) % static_cast<int>(std::size(kForms)); });
  add("step_next", fmt::format("Next step with {}", words_.many), ImGuiKey_Period, ".", [this](Context& context) { go_to_step(context, 1); });
  add("step_previous", fmt::format("Previous step with {}", words_.many), ImGuiKey_Comma, ",", [this](Context& context) { go_to_step(context, -1); });
}

bool SampleList::look(const Context& context, const Run* run) {
  if (run == nullptr) {
    listed_.clear();
    key_ = {};
    return false;
  }
  Key key{run->record.id, run->version, context.selection.step, order_};
  if (key == key_) return !listed_.empty();
  if (key.run != key_.run) current_ = 0;
  key_ = std::move(key);
  read(run->parts.samples, context.selection.step);
  sort(run->parts.samples);
  current_ = std::clamp(current_, 0, std::max(0, static_cast<int>(listed_.size()) - 1));
  read_ = -1;
  return !listed_.empty();
}

void SampleList::read(const Samples& samples, std::optional<int64_t> step) {
  listed_ = history::samples_at(samples, step, activity_);
  texts_ = text_columns(samples, listed_);
  numbers_ = always_;
  for (std::string& field : history::number_fields(samples, listed_))
    if (std::find(numbers_.begin(), numbers_.end(), field) == numbers_.end()) numbers_.push_back(std::move(field));
  if (numbers_.size() > history::kNumberFieldsMax) numbers_.resize(history::kNumberFieldsMax);
  ranges_.clear();
  for (const std::string& field : numbers_) ranges_.push_back(history::field_range(samples, listed_, field.c_str()));
  if (std::find(numbers_.begin(), numbers_.end(), order_) == numbers_.end()) order_.clear();
}

// Unknown last.
void SampleList::sort(const Samples& samples) {
  if (order_.empty()) return;
  const auto value = [&](size_t i) { return history::sample_number(samples[i], order_.c_str()).value_or(-std::numeric_limits<double>::infinity()); };
  std::stable_sort(listed_.begin(), listed_.end(), [&](size_t a, size_t b) { return value(a) > value(b); });
}

void SampleList::move(int by) { current_ = std::clamp(current_ + by, 0, static_cast<int>(listed_.size()) - 1); }

void SampleList::go_to_step(Context& context, int by) const {
  const auto run = context.run();
  if (!run) return;
  const std::vector<int64_t> steps = history::sample_steps(run->parts.samples, activity_);
  if (steps.empty()) return;
  const auto behind = std::upper_bound(steps.begin(), steps.end(), context.selection.step.value_or(steps.back()));
  if (by > 0 && behind != steps.end()) context.selection.step = *behind;
  if (by < 0 && behind - steps.begin() >= 2) context.selection.step = *(behind - 2);
}

void SampleList::draw(const Context& context, const Run& run) {
  draw_head(context, run.parts.samples);
  draw_numbers();
  draw_list(run.parts.samples);
  choose(run.parts.samples);
  ImGui::Dummy({px(1), px(2)});
  if (ImGui::BeginChild(fmt::format("###{}.text", view_).c_str())) draw_sample(run.parts.samples[listed_[static_cast<size_t>(current_)]]);
  ImGui::EndChild();
}

void SampleList::draw_head(const Context& context, const Samples& samples) {
  const int64_t shown = samples[listed_.front()].step;
  const std::optional<int64_t> asked = context.selection.step;
  ImGui::AlignTextToFramePadding();
  if (asked && *asked != shown) {
    text(fmt::format("No {} at step {}; nearest: {}", words_.many, text::format_count(*asked), text::format_count(shown)), Role::label, Token::text2);
  } else {
    text(fmt::format("step {}, {} {}", text::format_count(shown), listed_.size(), listed_.size() == 1 ? words_.one : words_.many), Role::label,
         Token::text2);
  }
  ImGui::SameLine(0, px(16));
  const auto place = std::find(numbers_.begin(), numbers_.end(), order_);
  int index = order_.empty() ? 0 : static_cast<int>(place - numbers_.begin()) + 1;
  const auto name = [&](int i) { return i == 0 ? std::string(kAsTheyCame) : title_of(numbers_[static_cast<size_t>(i) - 1]); };
  if (choice(fmt::format("###{}.by", view_).c_str(), "Order", name(index), static_cast<int>(numbers_.size()) + 1, name, index, 132))
    order_ = index == 0 ? "" : numbers_[static_cast<size_t>(index) - 1];
  ImGui::SameLine(0, px(12));
  choice(
      fmt::format("###{}.form", view_).c_str(), "", kForms[form_], static_cast<int>(std::size(kForms)), [](int i) { return std::string(kForms[i]); },
      form_, 84);
}

// "mean reward 0.62 (0.31 to 0.98)", ...
void SampleList::draw_numbers() const {
  std::string line;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const history::FieldRange& range = ranges_[i];
    if (range.count < 2) continue;
    line += fmt::format("{}{} {} ({} to {})", line.empty() ? "mean " : ",  ", title_of(numbers_[i]), text::format_value(range.mean),
                        text::format_value(range.minimum), text::format_value(range.maximum));
  }
  if (!line.empty()) text_fitted(line, ImGui::GetContentRegionAvail().x, Role::label, color(Token::text2));
}

void SampleList::draw_list(const Samples& samples) {
  std::vector<TableColumn> columns = {{"rank", kRankWidth, true}};
  for (const std::string& field : texts_) columns.push_back({title_of(field), 0});
  if (texts_.empty()) columns.push_back({"", 0});
  // As many numbers as leave room for the texts.
  float room = ImGui::GetContentRegionAvail().x / scale() - kRankWidth - kTextWidthMin * static_cast<float>(std::max<size_t>(texts_.size(), 1));
  size_t shown = 0;
  for (; shown < numbers_.size(); ++shown) {
    const std::string title = title_of(numbers_[shown]);
    const float width = std::clamp(text_width(title, Role::label) / scale() + 2, kNumberWidthMin, kNumberWidthMax);
    room -= width + 12;
    if (room < 0) break;
    columns.push_back({title, width, true});
  }
  const float rows_height = px(kRowHeight) * static_cast<float>(listed_.size() + 1) + px(4);
  const float height = std::min(rows_height, ImGui::GetContentRegionAvail().y * kListHeightShare);
  if (!begin_table(fmt::format("###{}.table", view_).c_str(), columns, height)) return;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(listed_.size()));
  clipper.IncludeItemByIndex(current_);
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(samples, shown, i);
  }
  end_table();
}

void SampleList::draw_row(const Samples& samples, size_t numbers_shown, int index) {
  const size_t position = listed_[static_cast<size_t>(index)];
  const history::SampleRecord& sample = samples[position];
  ImGui::PushID(static_cast<int>(position));
  if (table_row("###row", index == current_)) current_ = index;
  number_cell(std::to_string(sample.rank), Token::text2);
  for (size_t i = 0; i < texts_.size(); ++i) cell(cell_text(sample, texts_[i]), i == 0 ? Token::text : Token::text2);
  if (texts_.empty()) cell("");
  for (size_t i = 0; i < numbers_shown; ++i) {
    const auto value = history::sample_number(sample, numbers_[i].c_str());
    number_cell(value ? text::format_value(*value) : "-", value ? Token::text : Token::text3);
  }
  ImGui::PopID();
}

void SampleList::choose(const Samples& samples) {
  if (read_ == current_) return;
  read_ = current_;
  const history::SampleRecord& sample = samples[listed_[static_cast<size_t>(current_)]];
  tokens_ = sample_tokens(sample);
  if (details_) details_->read(sample);
}

void SampleList::draw_sample(const history::SampleRecord& sample) const {
  ImGui::PushTextWrapPos(0);
  if (form_ == kRaw) {
    text(sample.body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace), Role::code);
  } else if (form_ == kText) {
    draw_texts(sample);
  } else if (tokens_.empty()) {
    text("Its sender gave texts alone, no tokens.", Role::label, Token::text2);
  } else {
    draw_tokens(tokens_, form_ == kIds ? TokenForm::ids : TokenForm::texts);
  }
  ImGui::PopTextWrapPos();
}

void SampleList::draw_texts(const history::SampleRecord& sample) const {
  if (details_) details_->draw();
  for (const std::string& field : history::text_fields(sample)) {
    text(title_of(field), Role::heading, Token::text2);
    const std::string content = visible_bytes(history::sample_field(sample, field.c_str()));
    text(content.empty() ? "(nothing)" : content, Role::code, content.empty() ? Token::text3 : Token::text);
    ImGui::Dummy({px(1), px(4)});
  }
}

}  // namespace ringwright::gui

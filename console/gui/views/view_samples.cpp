// Samples: what the model was asked and what it said, at the current step.
#include <fmt/format.h>

#include <algorithm>

#include "console/gui/data/run_text.h"
#include "console/gui/data/sample_text.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr const char* kOrders[] = {"as they came", "reward", "length", "logprob gap"};
constexpr const char* kOrderFields[] = {"", "reward", "length", "logprob_gap"};
constexpr float kListHeightShare = 0.45F;

constexpr size_t kCellBytesMax = 400;  // more than any cell has room for

// What a row shows of a text that may be long.
std::string cell_text(const history::SampleRecord& sample, const char* field) {
  return text::one_line(visible_bytes(text::excerpt(sample_field(sample, field), kCellBytesMax)));
}

class ViewSamples : public View {
 public:
  void add_commands(CommandRegistry& registry) override {
    const auto cli = [](const Context& context) { return "ringwright runs export " + context.selection.run; };
    const auto none = [this](const Context&) { return listed_.empty() ? std::optional<std::string>("no sample is shown") : std::nullopt; };
    registry.add({"samples.next", "Next sample", "Samples", ImGuiKey_J, "J", none, cli, [this](Context&) { move(1); }, ImGuiKey_None, "samples"});
    registry.add(
        {"samples.previous", "Previous sample", "Samples", ImGuiKey_K, "K", none, cli, [this](Context&) { move(-1); }, ImGuiKey_None, "samples"});
    registry.add({"samples.order", "Another order of samples", "Samples", ImGuiKey_O, "O", nullptr, nullptr,
                  [this](Context&) { order_ = (order_ + 1) % 4; }, ImGuiKey_None, "samples"});
    registry.add({"samples.step_next", "Next step with samples", "Samples", ImGuiKey_Period, ".", none, cli,
                  [](Context& context) { go_to_step(context, 1); }, ImGuiKey_None, "samples"});
    registry.add({"samples.step_previous", "Previous step with samples", "Samples", ImGuiKey_Comma, ",", none, cli,
                  [](Context& context) { go_to_step(context, -1); }, ImGuiKey_None, "samples"});
  }

  void draw(Context& context) override {
    const auto run = context.run();
    listed_.clear();
    if (!run) {
      empty_state("No run is selected", "Click a run in Runs to read its samples");
      return;
    }
    if (run->details == Loading::reading && run->parts.samples.empty()) {
      skeleton(6, px(25));
      return;
    }
    const auto& samples = run->parts.samples;
    listed_ = samples_at(samples, context.selection.step);
    if (listed_.empty()) {
      empty_state("No samples recorded", "This run has sent none; samples come from rollouts and validation");
      return;
    }
    sort(samples);
    current_ = std::clamp(current_, 0, static_cast<int>(listed_.size()) - 1);
    draw_head(context, samples);
    draw_list(samples);
    draw_sample(samples[listed_[static_cast<size_t>(current_)]]);
  }

 private:
  using Samples = std::deque<history::SampleRecord>;

  void move(int by) { current_ = std::clamp(current_ + by, 0, static_cast<int>(listed_.size()) - 1); }

  static void go_to_step(Context& context, int by) {
    const auto run = context.run();
    if (!run) return;
    std::vector<int64_t> steps;
    for (const history::SampleRecord& sample : run->parts.samples) steps.push_back(sample.step);
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    const int64_t now = context.selection.step.value_or(steps.back());
    if (by > 0) {
      const auto next = std::upper_bound(steps.begin(), steps.end(), now);
      if (next != steps.end()) context.selection.step = *next;
    } else {
      auto before = std::upper_bound(steps.begin(), steps.end(), now);  // behind the step that is shown
      if (before - steps.begin() >= 2) context.selection.step = *(before - 2);
    }
  }

  void sort(const Samples& samples) {
    if (order_ == 0) return;
    const auto value = [&](size_t i) { return sample_number(samples[i], kOrderFields[order_]).value_or(-1e300); };
    std::stable_sort(listed_.begin(), listed_.end(), [&](size_t a, size_t b) { return value(a) > value(b); });
  }

  void draw_head(Context& context, const Samples& samples) {
    const int64_t shown = samples[listed_.front()].step;
    ImGui::AlignTextToFramePadding();
    const std::optional<int64_t> asked = context.selection.step;
    if (asked && *asked != shown) {
      text(fmt::format("No samples recorded at step {}; nearest: {}", text::format_count(*asked), text::format_count(shown)), Role::label,
           Token::text2);
    } else {
      text(fmt::format("step {}, {} samples", text::format_count(shown), listed_.size()), Role::label, Token::text2);
    }
    ImGui::SameLine(0, px(16));
    choice("###samples.order", "Order", kOrders[order_], 4, [](int i) { return std::string(kOrders[i]); }, order_, 116);
    ImGui::SameLine(0, px(12));
    int raw = raw_ ? 1 : 0;
    if (choice("###samples.form", "", raw_ ? "raw" : "text", 2, [](int i) { return std::string(i == 0 ? "text" : "raw"); }, raw, 64)) raw_ = raw == 1;
  }

  void draw_list(const Samples& samples) {
    const std::vector<TableColumn> columns = {{"rank", 34, true},   {"prompt", 0},        {"reply", 0},
                                              {"reward", 54, true}, {"length", 50, true}, {"logprob gap", 82, true}};
    if (!begin_table("###samples.table", columns, ImGui::GetContentRegionAvail().y * kListHeightShare)) return;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(listed_.size()));
    clipper.IncludeItemByIndex(current_);
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(samples, i);
    }
    end_table();
  }

  void draw_row(const Samples& samples, int index) {
    const size_t position = listed_[static_cast<size_t>(index)];
    const history::SampleRecord& sample = samples[position];
    ImGui::PushID(static_cast<int>(position));
    if (table_row("###row", index == current_)) current_ = index;
    number_cell(std::to_string(sample.rank), Token::text2);
    cell(cell_text(sample, "prompt"));
    cell(cell_text(sample, "reply"), Token::text2);
    for (const char* field : {"reward", "length", "logprob_gap"}) {
      const auto value = sample_number(sample, field);
      number_cell(value ? text::format_value(*value) : "-", value ? Token::text : Token::text3);
    }
    ImGui::PopID();
  }

  void draw_sample(const history::SampleRecord& sample) const {
    ImGui::Dummy({px(1), px(2)});
    if (!ImGui::BeginChild("###samples.text")) {
      ImGui::EndChild();
      return;
    }
    ImGui::PushTextWrapPos(0);
    if (raw_) {
      text(sample.body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace), Role::code);
    } else {
      for (const char* field : {"prompt", "reply"}) {
        text(field, Role::heading, Token::text2);
        const std::string content = visible_bytes(sample_field(sample, field));
        text(content.empty() ? "(nothing)" : content, Role::code, content.empty() ? Token::text3 : Token::text);
        ImGui::Dummy({px(1), px(4)});
      }
    }
    ImGui::PopTextWrapPos();
    ImGui::EndChild();
  }

  std::vector<size_t> listed_;
  int current_ = 0, order_ = 0;
  bool raw_ = false;
};

const RegisterView registration({"samples", "Samples", "S", make_view<ViewSamples>});

}  // namespace
}  // namespace ringwright::gui

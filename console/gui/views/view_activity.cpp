// Rollout, Teacher and Alignment: what the stream says of each, as time and as samples. What no run has sent is not shown.
#include <fmt/format.h>

#include <algorithm>

#include "console/gui/data/timeline.h"
#include "console/gui/views/aligned_tokens.h"
#include "console/gui/views/sample_list.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/table.h"
#include "console/gui/widgets/widgets.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

constexpr size_t kPhaseRowsMax = 4;  // more are scrolled to

struct ActivityView {
  const char* id;
  const char* title;
  SampleWords words;
  const char* nothing;       // the title of the empty state
  const char* who_has_some;  // whose runs have such data
  std::unique_ptr<SampleDetails> (*details)() = nullptr;
};
constexpr ActivityView kRollout{"rollout",
                                "Rollout",
                                {"rollout", "rollouts"},
                                "No rollouts in this run",
                                "They come from runs that let the model answer: GRPO, PPO, on-policy distillation."};
constexpr ActivityView kTeacher{"teacher",
                                "Teacher",
                                {"teacher's sample", "teacher's samples"},
                                "Nothing of a teacher in this run",
                                "Such data comes from distillation: what a teacher says of a text, and how long that takes."};
constexpr ActivityView kAlignment{"alignment",
                                  "Alignment",
                                  {"aligned text", "aligned texts"},
                                  "No aligned tokens in this run",
                                  "Such data comes from distillation between models that cut a text into different tokens.",
                                  [] { return std::unique_ptr<SampleDetails>(std::make_unique<AlignedTokens>()); }};

struct PhaseColumn {
  const char* title;
  float width;     // design pixels
  float room_min;  // of the view, for this column to be shown
  Token ink;
  std::string (*value)(const history::PhaseTime&, const Run&);
};
constexpr PhaseColumn kPhaseColumns[] = {
    {"ranks", 70, 560, Token::text2,
     [](const history::PhaseTime& phase, const Run& run) { return fmt::format("{} of {}", phase.ranks, run.record.world_size); }},
    {"mean", 76, 0, Token::text, [](const history::PhaseTime& phase, const Run&) { return duration_text(phase.mean_ns); }},
    {"longest", 76, 0, Token::text, [](const history::PhaseTime& phase, const Run&) { return duration_text(phase.longest_ns); }},
    {"of rank", 60, 480, Token::text2, [](const history::PhaseTime& phase, const Run&) { return std::to_string(phase.longest_rank); }},
    {"of the step", 84, 400, Token::text, [](const history::PhaseTime& phase, const Run&) { return fmt::format("{:.0f} %", phase.share * 100); }}};

class ViewActivity : public View {
 public:
  ViewActivity(const ActivityView& entry, const history::Activity& activity)
      : entry_(entry), activity_(activity), list_(entry.id, entry.words, &activity) {
    if (entry.details != nullptr) list_.set_details(entry.details());
  }

  void add_commands(CommandRegistry& registry) override { list_.add_commands(registry, entry_.title); }

  void draw(Context& context) override {
    const auto run = context.run();
    const bool has_samples = list_.look(context, run.get());
    if (!run) {
      empty_state("No run is selected", "Click a run in Runs to see what it has sent");
      return;
    }
    look_at_spans(context, *run);
    if (phases_) draw_phases(*run);
    if (has_samples) {
      list_.draw(context, *run);
    } else if (!phases_ && run->details == Loading::reading) {
      skeleton(6, px(25));
    } else if (!phases_ && run->details == Loading::failed) {
      error_state(run->details_error);
    } else if (!phases_) {
      empty_state(entry_.nothing, entry_.who_has_some);
    } else {
      text(fmt::format("No {} recorded", entry_.words.many), Role::label, Token::text2);
    }
  }

 private:
  void look_at_spans(const Context& context, const Run& run) {
    Key key{run.record.id, run.spans_version, context.selection.step};
    if (key == key_) return;
    key_ = std::move(key);
    phases_ = history::phases_at(run.parts.spans, context.selection.step, &activity_);
  }

  void draw_phases(const Run& run) const {
    const int64_t asked = key_.step.value_or(phases_->step);
    const std::string step = text::format_count(phases_->step);
    text(asked == phases_->step ? fmt::format("Time in step {}", step)
                                : fmt::format("Time in step {}, the nearest to step {} that has such spans", step, text::format_count(asked)),
         Role::heading);
    const float room = ImGui::GetContentRegionAvail().x / scale(),
                height = px(25) * static_cast<float>(std::min(phases_->phases.size(), kPhaseRowsMax) + 1) + px(4);
    std::vector<TableColumn> columns = {{"phase", 0}};
    for (const PhaseColumn& column : kPhaseColumns)
      if (room >= column.room_min) columns.push_back({column.title, column.width, true});
    if (!begin_table(fmt::format("###{}.phases", entry_.id).c_str(), columns, height)) return;
    for (size_t i = 0; i < phases_->phases.size(); ++i) {
      const history::PhaseTime& phase = phases_->phases[i];
      ImGui::PushID(static_cast<int>(i));
      table_row("###row", false);
      cell(phase.phase, Token::text, Role::code);
      for (const PhaseColumn& column : kPhaseColumns)
        if (room >= column.room_min) number_cell(column.value(phase, run), column.ink);
      ImGui::PopID();
    }
    end_table();
    ImGui::Dummy({px(1), px(4)});
  }

  struct Key {
    std::string run;
    uint64_t spans_version = 0;
    std::optional<int64_t> step;
    bool operator==(const Key&) const = default;
  };

  const ActivityView& entry_;
  const history::Activity& activity_;
  SampleList list_;
  Key key_;
  std::optional<history::StepPhases> phases_;
};

template <const ActivityView& entry>
std::unique_ptr<View> make_activity() {
  return std::make_unique<ViewActivity>(entry, *history::activity_named(entry.id));
}

const RegisterView rollout({kRollout.id, kRollout.title, "V", make_activity<kRollout>});
const RegisterView teacher({kTeacher.id, kTeacher.title, "E", make_activity<kTeacher>});
const RegisterView alignment({kAlignment.id, kAlignment.title, "I", make_activity<kAlignment>});

}  // namespace
}  // namespace ringwright::gui

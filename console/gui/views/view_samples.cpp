// Samples: what the model was asked and what it said, at the current step.
#include "console/gui/views/sample_list.h"
#include "console/gui/views/view.h"
#include "console/gui/widgets/widgets.h"

namespace ringwright::gui {
namespace {

class ViewSamples : public View {
 public:
  void add_commands(CommandRegistry& registry) override { list_.add_commands(registry, "Samples"); }

  void draw(Context& context) override {
    const auto run = context.run();
    const bool has_some = list_.look(context, run.get());
    if (!run) {
      empty_state("No run is selected", "Click a run in Runs to read its samples");
    } else if (has_some) {
      list_.draw(context, *run);
    } else if (run->details == Loading::reading) {
      skeleton(6, px(25));
    } else if (run->details == Loading::failed) {
      error_state(run->details_error);
    } else {
      empty_state("No samples recorded", "This run has sent none; samples come from rollouts and validation");
    }
  }

 private:
  SampleList list_{"samples", {"sample", "samples"}, nullptr, {"reward", "length", "logprob_gap"}};
};

const RegisterView registration({"samples", "Samples", "S", make_view<ViewSamples>});

}  // namespace
}  // namespace ringwright::gui

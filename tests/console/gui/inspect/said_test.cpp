// What views say, word by word, where there is nothing to show or not all of it.
#include <gmock/gmock.h>

#include "console/gui/views/view_metrics.h"
#include "tests/console/gui/inspect/words_test.h"

namespace ringwright::gui {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Said = WordsTest;

TEST_F(Said, WithoutARecipeEachViewOfItOffersToOpenOne) {
  for (const char* view : {"launch", "guards", "mesh", "memory", "flow"}) {
    open_view(view);
    context().run()->parts.estimate.reset();  // Memory would show that
    ASSERT_FALSE(context().recipe.is_open());
    const std::vector<std::string> said = words();
    EXPECT_THAT(said, Contains(StartsWith("No recipe"))) << view;
    EXPECT_THAT(said, Contains(StartsWith("Open a recipe..."))) << view;
    EXPECT_EQ(context().commands.refusal("recipe.launch", context()), "no recipe is open") << view;
  }
}

TEST_F(Said, AMetricTooLongToBeReadIsDrawnOverStepsAndSaysSoElsewhere) {
  open_view("metrics");
  const auto run = context().run();
  ASSERT_TRUE(run && run->metrics.contains("train/loss"));
  run->metrics.erase("train/loss");
  history::MetricSummary sums;
  sums.name = "train/loss", sums.first_step = 1, sums.last_step = 500'000, sums.finite = 500'000;
  run->parts.unread_metrics["train/loss"] = sums;
  auto& view = dynamic_cast<ViewMetrics&>(*app().shell().view("metrics"));
  EXPECT_THAT(words(), Not(Contains(HasSubstr("only steps can be drawn"))));
  for (const XAxis axis : {XAxis::tokens, XAxis::elapsed}) {
    view.set_x_axis(axis);
    EXPECT_THAT(words(), Contains(HasSubstr("only steps can be drawn")));
  }
}

}  // namespace
}  // namespace ringwright::gui

// T37: names that users give are drawn to the letter, whatever they hold.
#include <gmock/gmock.h>

#include "tests/console/gui/inspect/hands.h"
#include "tests/console/gui/inspect/words_test.h"

namespace ringwright::gui {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class Names : public WordsTest {
 protected:
  // All of them are drawn in the view, each as a text of its own.
  void expect_drawn(const std::string& view, const std::vector<std::string>& names) {
    open_view(view, "hash-names");
    app().shell().show_only(view);
    const std::vector<std::string> said = words();
    for (const std::string& name : names) EXPECT_THAT(said, Contains(name)) << view;
  }
};

TEST_F(Names, OfRunsAreDrawnToTheLetter) {
  expect_drawn("runs", {"x##1", "x##2", "x###z", "y###z"});
  const std::vector<std::string> said = words();
  EXPECT_GE(std::count(said.begin(), said.end(), "same"), 3) << "a row each, and the run that is selected";
}

TEST_F(Names, OfMetricsAreDrawnToTheLetter) { expect_drawn("metrics", {"m##1", "m##2", "m###z", "n###z", "##"}); }

TEST_F(Names, InLogsAndAlertsAreDrawnToTheLetter) {
  expect_drawn("logs", {"l##1"});
  expect_drawn("alerts", {"m##1 is NaN", "m##2 is NaN", "a###z is NaN", "b###z is NaN"});
}

TEST_F(Names, OfTwoNodesThatAreTheSameAreBothShown) { expect_drawn("cluster", {"2 x node0", "0", "1"}); }

// A click reaches the one that it is made on: the names differ only where ImGui would not look.
TEST_F(Names, EachMetricIsChosenByItsOwnTitle) {
  for (const char* name : {"m##1", "m##2", "m###z", "n###z"}) {
    open_view("metrics", "hash-names");
    app().shell().show_only("metrics");
    frames(4);
    hands::click(place_of(name), [this] { frames(1); });
    const std::vector<std::string> said = words();
    EXPECT_THAT(said, Contains(std::string(name)));
    for (const char* other : {"m##1", "m##2", "m###z", "n###z"}) {
      if (std::string(name) == other) continue;
      EXPECT_THAT(said, ::testing::Not(Contains(std::string(other)))) << name << " stands alone";
    }
  }
}

TEST_F(Names, OfAPinnedViewsRunIsNotCut) {
  open_view("logs", "hash-names");
  context().select("r_37000004");
  context().commands.run("view.pin", context());
  frames(3);
  EXPECT_THAT(words(), Contains(HasSubstr("r_37000004"))) << "a tab cannot show x##1";
}

}  // namespace
}  // namespace ringwright::gui

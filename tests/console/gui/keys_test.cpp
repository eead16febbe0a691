// The operator's own keys: what the file says holds, what it says wrongly is named and left out.
#include <gmock/gmock.h>

#include <fstream>

#include "console/gui/services/keys_file.h"
#include "tests/console/gui/console_fixture.h"

namespace ringwright::gui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KeysFile : public ConsoleTest {
 protected:
  void SetUp() override {
    ConsoleTest::SetUp();
    open(demo_options(3));
  }

  std::vector<std::string> apply(const std::string& lines) {
    std::filesystem::create_directories(keys_file().parent_path());
    std::ofstream(keys_file()) << lines;
    return apply_keys_file(registry(), keys_file());
  }

  // A console keeps its registry to itself: a test has one of its own.
  CommandRegistry& registry() {
    if (registry_.all().empty())
      for (const Command& command : context().commands.all()) registry_.add(command);
    return registry_;
  }
  const Command& command(const std::string& id) { return *registry().find(id); }

  CommandRegistry registry_;
};

TEST_F(KeysFile, EveryDefaultReadsAsItIsWritten) {
  int read = 0;
  for (const Command& each : context().commands.all()) {
    if (each.chord == 0) continue;
    const auto keys = read_keys(each.keys);
    ASSERT_TRUE(keys) << each.id << ": " << each.keys;
    EXPECT_EQ(keys->chord, each.chord) << each.id << ": " << each.keys;
    EXPECT_EQ(keys->text, each.keys) << each.id;
    ++read;
  }
  EXPECT_GT(read, 20);
  EXPECT_EQ(read_keys("shift+ctrl+pgup")->text, "Ctrl+Shift+PgUp");
  for (const char* wrong : {"", "Ctrl", "Ctrl+", "Ctrl+Ctrl+P", "F13", "Hyper+X", "PP"}) EXPECT_FALSE(read_keys(wrong)) << wrong;
}

TEST_F(KeysFile, GivesAndTakesAndLetsTwoChangePlaces) {
  const Command tag = command("runs.tag"), note = command("runs.note"), theme = command("theme.toggle");
  EXPECT_THAT(apply("runs.tag: E\nruns.note: T\nscale.reset: F9\nwindow.quit:\n"), IsEmpty());
  EXPECT_EQ(command("runs.tag").chord, note.chord);
  EXPECT_EQ(command("runs.note").chord, tag.chord);
  EXPECT_EQ(command("scale.reset").chord, theme.chord);
  EXPECT_EQ(command("theme.toggle").chord, 0) << "it had F9 by default";
  EXPECT_EQ(command("theme.toggle").keys, "");
  EXPECT_EQ(command("window.quit").chord, 0);
}

TEST_F(KeysFile, WhatIsWrongIsNamedWithItsLineAndTheRestHolds) {
  EXPECT_THAT(apply("runs.tga: T\nruns.tag: Ctrl+Nothing\nruns.note: G\nruns.mark: F7\nruns.compare: F7\nruns.mark: F6\n"),
              ElementsAre(HasSubstr("keys.yaml:1: there is no command 'runs.tga'; runs.tag is near"), HasSubstr("keys.yaml:2: 'Ctrl+Nothing'"),
                          HasSubstr("keys.yaml:3: G begins"), HasSubstr("keys.yaml:6: runs.mark has its keys above"),
                          HasSubstr("keys.yaml:5: F7 is given to runs.mark above")));
  EXPECT_EQ(command("runs.mark").keys, "F7");
  EXPECT_EQ(command("runs.tag").keys, "T");
}

TEST_F(KeysFile, NoMapAndNoYamlAreNamedAndChangeNothing) {
  EXPECT_THAT(apply("- T\n"), ElementsAre(HasSubstr("keys.yaml:1: expected lines")));
  EXPECT_THAT(apply("runs.tag: [T\n"), ElementsAre(HasSubstr("keys.yaml:")));
  EXPECT_THAT(apply(""), IsEmpty());
  EXPECT_THAT(apply_keys_file(registry(), folder_.path() / "none.yaml"), IsEmpty());
  EXPECT_EQ(command("runs.tag").keys, "T");
}

// A console of its own history reads the file at its start.
TEST_F(KeysFile, HoldsFromTheStartAndAFaultIsAToast) {
  apply("runs.tag: F7\nnothing.at.all: F6\n");
  Options options;
  options.view = "watch";
  open(options);
  EXPECT_EQ(context().commands.find("runs.tag")->keys, "F7");
  ASSERT_FALSE(context().toasts.empty());
  EXPECT_THAT(context().toasts.front().notice.text, HasSubstr("keys.yaml:2: there is no command 'nothing.at.all'"));
}

}  // namespace
}  // namespace ringwright::gui

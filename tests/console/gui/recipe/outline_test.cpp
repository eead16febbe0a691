#include "console/gui/recipe/outline.h"

#include <gmock/gmock.h>

namespace ringwright::gui {
namespace {

std::vector<std::string> keys(std::string_view text) {
  std::vector<std::string> result;
  for (const OutlineLine& line : outline(text)) result.push_back(line.key);
  return result;
}

TEST(Outline, NamesTheKeyOfEachLine) {
  EXPECT_THAT(keys("a:\n  b: 1 # x\n\n  c:\n    - d: 2\n      e: 3\n    - 4\nf: 5"),
              ::testing::ElementsAre("a", "a.b", "", "a.c", "a.c.0.d", "a.c.0.e", "a.c.1", "f"));
  EXPECT_THAT(keys("a:\n- 1\n- 2\nb: 3"), ::testing::ElementsAre("a", "a.0", "a.1", "b")) << "a list at its key's column";
  EXPECT_THAT(keys("'a b': 1\n\"c\": 2"), ::testing::ElementsAre("a b", "c"));
}

TEST(Outline, TellsKeyValueAndCommentApart) {
  const std::string text = "a:  \"x # y: z\"   # note";
  const OutlineLine line = outline(text).front();
  EXPECT_EQ(value_of(text, line), "\"x # y: z\"");
  EXPECT_EQ(text.substr(line.comment_begin), "# note");
  EXPECT_EQ(value_of("a: ${mul:2, ${b.c}}", outline("a: ${mul:2, ${b.c}}").front()), "${mul:2, ${b.c}}");
}

TEST(Outline, BlockTextHasNoKeys) { EXPECT_THAT(keys("a: |\n  b: 1\n\n  c: 2\nd: 3"), ::testing::ElementsAre("a", "", "", "", "d")); }

TEST(Outline, ABrokenTextStillHasKeys) { EXPECT_THAT(keys("a:\n  b: [1, 2\n  c: 'x\nd: }"), ::testing::ElementsAre("a", "a.b", "a.c", "d")); }

TEST(Outline, FindsTheKeyUnderTheCaretAndTheSectionOfANewOne) {
  const std::string text = "a:\n  b: [1,\n      2]\n\n  \nc: 3\n";
  const auto lines = outline(text);
  EXPECT_EQ(key_at(lines, text.find("2]")), "a.b");
  EXPECT_EQ(key_at(lines, text.find("c:")), "c");
  EXPECT_EQ(section_for(lines, 4, 2), "a");
  EXPECT_EQ(section_for(lines, 4, 0), "");
  EXPECT_EQ(line_of(lines, "c"), 5u);
  EXPECT_EQ(line_of(lines, "nothing"), std::string::npos);
}

}  // namespace
}  // namespace ringwright::gui

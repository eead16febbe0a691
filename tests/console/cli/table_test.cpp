#include "console/cli/table.h"

#include <gtest/gtest.h>

#include "console/cli/terminal.h"

namespace ringwright::cli {
namespace {

TEST(Terminal, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("žluť"), 4);
  EXPECT_EQ(display_width("日本"), 4);
  EXPECT_EQ(display_width("\x1b[31mred\x1b[0m"), 3);
}

TEST(Terminal, FitCutsWithAnEllipsisAndEndsTheStyle) {
  EXPECT_EQ(fit("abcdef", 6), "abcdef");
  EXPECT_EQ(fit("abcdef", 4), "abc…");
  EXPECT_EQ(fit("日本語", 4), "日…");
  EXPECT_EQ(fit("\x1b[31mabcdef\x1b[0m", 4), "\x1b[31mabc…\x1b[0m");
}

TEST(Table, AlignsAndLeavesNoTrailingSpaces) {
  Table table({{"run"}, {"loss", Align::right}, {"name"}});
  table.add_row({"r_1", "0.5", "žluť"});
  table.add_row({"r_22", "12.25"});
  EXPECT_EQ(table.format(0), "run    loss  name\nr_1     0.5  žluť\nr_22  12.25\n");
}

TEST(Table, ShrinksOnlyWhatMayShrink) {
  Table table({{"id"}, {"text", Align::left, true}});
  table.add_row({"r_12345678", "a long text that does not fit"});
  EXPECT_EQ(table.format(24), "id          text\nr_12345678  a long text…\n");
}

TEST(Table, SurplusCellsAreAProgrammingError) { EXPECT_THROW(Table({{"one"}}).add_row({"1", "2"}), std::logic_error); }

}  // namespace
}  // namespace ringwright::cli

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "daemon/service/captured_output.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::service {
namespace {

using testing::ElementsAre;

struct Lines {
  LineSplitter splitter;
  std::vector<std::string> lines;
  void feed(std::string_view bytes) {
    splitter.feed(bytes, [this](std::string line) { lines.push_back(std::move(line)); });
  }
  void finish() {
    splitter.finish([this](std::string line) { lines.push_back(std::move(line)); });
  }
};

TEST(LineSplitter, JoinsPiecesAndCutsAtEnds) {
  Lines it;
  it.feed("one\ntw");
  it.feed("o\n\nthr");
  EXPECT_THAT(it.lines, ElementsAre("one", "two"));
  it.feed("ee");
  it.finish();
  EXPECT_THAT(it.lines, ElementsAre("one", "two", "three"));
}

TEST(LineSplitter, ProgressBarsAreLines) {
  Lines it;
  it.feed("10%\r20%\r\n");
  EXPECT_THAT(it.lines, ElementsAre("10%", "20%"));
}

TEST(LineSplitter, LongLinesAreHandedOnInPiecesAndNothingIsLost) {
  Lines it;
  const std::string text(3 * kLineBytesMax + 5, 'x');
  it.feed(text + "\nnext\n");
  ASSERT_EQ(it.lines.size(), 5u);
  std::string joined;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_LE(it.lines[i].size(), kLineBytesMax);
    joined += it.lines[i];
  }
  EXPECT_EQ(joined, text);
  EXPECT_EQ(it.lines[4], "next");
  EXPECT_EQ(it.splitter.lines_cut(), 3u);
}

TEST(LineSplitter, ALineOfExactlyTheLimitIsOneLine) {
  Lines it;
  it.feed(std::string(kLineBytesMax, 'x') + "\n");
  EXPECT_EQ(it.lines.size(), 1u);
  EXPECT_EQ(it.splitter.lines_cut(), 0u);
}

TEST(LineSplitter, BytesThatAreNoTextBecomeText) {
  Lines it;
  it.feed("a\xff z\n");
  EXPECT_THAT(it.lines, ElementsAre("a\xEF\xBF\xBD z"));
}

TEST(RankLog, KeepsTheFileAndTheLastLines) {
  const test::TemporaryFolder folder;
  {
    RankLog log(folder / "rank0.log");
    for (int i = 0; i < 30; ++i) log.write("line " + std::to_string(i));
    EXPECT_EQ(log.last_lines().size(), kLastLinesMax);
    EXPECT_EQ(log.last_lines().back(), "line 29");
    EXPECT_EQ(log.write_failures(), 0u);
  }
  std::ifstream in(folder / "rank0.log");
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) EXPECT_EQ(line, "line " + std::to_string(lines++));
  EXPECT_EQ(lines, 30);
}

TEST(RankLog, AFileThatCannotBeWrittenIsCounted) {
  RankLog log("/nowhere/rank0.log");
  log.write("lost on disk, not here");
  EXPECT_EQ(log.write_failures(), 1u);
  EXPECT_EQ(log.last_lines().back(), "lost on disk, not here");
}

}  // namespace
}  // namespace ringwright::service

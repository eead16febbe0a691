// The documentation's text is printed from the rows.
#include "shared/support_matrix/document.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "shared/support_matrix/migration.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {
namespace {

TEST(Document, TheCommittedTextIsWhatTheRowsPrint) {
  std::ifstream file(std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "SUPPORT.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), matrix_markdown()) << "write it anew: ringwright explain matrix --markdown >SUPPORT.md";
}

TEST(Document, HasEveryRow) {
  const std::string text = matrix_markdown();
  for (const RowText& row : rows()) EXPECT_NE(text.find("| " + row.code + " |"), std::string::npos) << row.code;
}

TEST(Migration, ARowThatFlagsAMoveIsThere) {
  for (const Move& move : moves()) {
    if (move.row.empty()) continue;
    bool found = false;
    for (const RowText& row : rows()) found = found || row.code == move.row;
    EXPECT_TRUE(found) << move.row;
  }
}

}  // namespace
}  // namespace ringwright::support_matrix

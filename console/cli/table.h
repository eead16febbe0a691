// A table in the terminal: a header, then rows in columns, two spaces between them.
#pragma once

#include <string>
#include <vector>

namespace ringwright::cli {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool may_shrink = false;  // cut with an ellipsis where the terminal is too narrow
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  // Missing cells are empty, surplus cells a programming error (std::logic_error). Cells may be styled() and hold any UTF-8 text.
  void add_row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Lines with an end each, cut to `terminal_columns` (0: never cut). The header is bold where stdout shows styles.
  std::string format(int terminal_columns) const;
  // To stdout, as wide as the terminal.
  void print() const;

 private:
  std::vector<int> widths(int terminal_columns) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ringwright::cli

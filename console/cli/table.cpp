#include "console/cli/table.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "console/cli/terminal.h"

namespace ringwright::cli {
namespace {

constexpr int kGapColumns = 2;
constexpr int kShrunkColumnsMin = 8;

std::string padded(const std::string& cell, int width, Align align, bool last) {
  const std::string text = fit(cell, width);
  const auto spaces = static_cast<size_t>(std::max(0, width - display_width(text)));
  if (align == Align::right) return std::string(spaces, ' ') + text;
  return last ? text : text + std::string(spaces, ' ');
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) throw std::logic_error("a table row has more cells than the table has columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<int> Table::widths(int terminal_columns) const {
  std::vector<int> widths(columns_.size());
  for (size_t column = 0; column < columns_.size(); ++column) {
    widths[column] = display_width(columns_[column].title);
    for (const auto& row : rows_) widths[column] = std::max(widths[column], display_width(row[column]));
  }
  if (terminal_columns <= 0) return widths;
  int surplus = std::accumulate(widths.begin(), widths.end(), kGapColumns * (static_cast<int>(columns_.size()) - 1)) - terminal_columns;
  for (size_t column = columns_.size(); column-- > 0 && surplus > 0;) {
    if (!columns_[column].may_shrink) continue;
    const int cut = std::clamp(widths[column] - kShrunkColumnsMin, 0, surplus);
    widths[column] -= cut;
    surplus -= cut;
  }
  return widths;
}

std::string Table::format(int terminal_columns) const {
  const std::vector<int> widths = this->widths(terminal_columns);
  const auto line = [&](const auto& cell_of, Style style) {
    std::string text;
    for (size_t column = 0; column < columns_.size(); ++column) {
      if (column > 0) text.append(kGapColumns, ' ');
      text += styled(padded(cell_of(column), widths[column], columns_[column].align, column + 1 == columns_.size()), style);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line([&](size_t column) { return columns_[column].title; }, Style::bold);
  for (const auto& row : rows_) text += line([&](size_t column) { return row[column]; }, Style::plain);
  return text;
}

void Table::print() const { std::fputs(format(terminal_columns()).c_str(), stdout); }

}  // namespace ringwright::cli

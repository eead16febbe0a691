#include "shared/layout/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "shared/base/rounding.h"
#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

// Bounds and indices of the columns over [first, last): column i starts at first + floor(i * positions / width).
struct Grid {
  int64_t first, positions, width;

  int64_t begin(int64_t column) const { return first + column * positions / width; }
  // At least one position, also where columns are narrower than that.
  int64_t end(int64_t column) const { return std::max(begin(column) + 1, begin(column + 1)); }
  // The first column that shows the position, and the first one that starts behind it.
  int64_t first_column(int64_t position) const {
    const int64_t offset = position - first;
    return positions >= width ? ceil_ratio(offset + 1) - 1 : ceil_ratio(offset);
  }
  int64_t column_behind(int64_t position) const { return ceil_ratio(position - first + 1); }

 private:
  // ceil(offset * width / positions)
  int64_t ceil_ratio(int64_t offset) const { return (offset * width + positions - 1) / positions; }
};

// Slots of one rank in one column.
struct Share {
  int64_t column;
  int rank;
  int64_t slots;
};

std::vector<Share> shares_of(const std::vector<Run>& runs, const Grid& grid) {
  std::vector<Share> shares;
  for (const Run& run : runs) {
    const int64_t begin = std::max(run.global_start, grid.first);
    const int64_t end = std::min(run.global_start + run.length, grid.first + grid.positions);
    if (begin >= end) continue;
    const int64_t behind = std::min(grid.column_behind(end - 1), grid.width);
    for (int64_t column = grid.first_column(begin); column < behind; ++column) {
      shares.push_back({column, run.rank, std::min(end, grid.end(column)) - std::max(begin, grid.begin(column))});
    }
  }
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.column != b.column ? a.column < b.column : a.rank < b.rank; });
  return shares;
}

int64_t tokens_in(const std::vector<PlacedDocument>& documents, const Run& run) {
  const int64_t end = run.global_start + run.length;
  auto document = std::partition_point(documents.begin(), documents.end(),
                                       [&](const PlacedDocument& each) { return each.start + each.slot_length <= run.global_start; });
  int64_t tokens = 0;
  for (; document != documents.end() && document->start < end; ++document) {
    tokens += std::max<int64_t>(std::min(end, document->start + document->real_length) - std::max(run.global_start, document->start), 0);
  }
  return tokens;
}

// Tokens before each position are few enough to be found by bisection; columns may be narrower than documents or hold many of them.
void add_documents(std::vector<Column>& columns, const Grid& grid, const std::vector<PlacedDocument>& documents) {
  std::vector<int64_t> tokens_before(documents.size() + 1, 0);
  for (size_t d = 0; d < documents.size(); ++d) tokens_before[d + 1] = tokens_before[d] + documents[d].real_length;
  const auto first_behind = [&](int64_t position) {  // the first document that starts at or behind the position
    return static_cast<size_t>(
        std::partition_point(documents.begin(), documents.end(), [&](const PlacedDocument& each) { return each.start < position; }) -
        documents.begin());
  };
  const auto tokens_up_to = [&](int64_t position) {
    const size_t behind = first_behind(position);
    if (behind == 0) return int64_t{0};
    const PlacedDocument& last = documents[behind - 1];
    return tokens_before[behind - 1] + std::min(last.real_length, position - last.start);
  };
  for (int64_t i = 0; i < grid.width; ++i) {
    Column& column = columns[static_cast<size_t>(i)];
    const int64_t size = grid.end(i) - grid.begin(i), tokens = tokens_up_to(grid.end(i)) - tokens_up_to(grid.begin(i));
    column.padding_share = static_cast<double>(size - tokens) / static_cast<double>(size);
    column.document_starts = first_behind(grid.begin(i)) < first_behind(grid.end(i));
  }
}

}  // namespace

std::vector<Column> columns(const std::vector<Run>& runs, int width, int64_t first, int64_t last, const std::vector<PlacedDocument>& documents) {
  if (width <= 0 || last <= first) return {};
  const Grid grid{first, last - first, width};
  std::vector<Column> result(static_cast<size_t>(width));
  const std::vector<Share> shares = shares_of(runs, grid);
  for (size_t i = 0; i < shares.size();) {
    Column& column = result[static_cast<size_t>(shares[i].column)];
    size_t end = i;
    int64_t slots = 0;
    for (; end < shares.size() && shares[end].column == shares[i].column && shares[end].rank == shares[i].rank; ++end) slots += shares[end].slots;
    ++column.owners;
    if (slots > column.owner_slots) {
      column.owner = shares[i].rank;
      column.owner_slots = slots;
    }
    i = end;
  }
  add_documents(result, grid, documents);
  return result;
}

std::vector<PlacedDocument> place_documents(const std::vector<int64_t>& lengths, int64_t multiple) {
  if (multiple < 1 || multiple > kSequenceLengthMax) {
    refuse("RW-LAYOUT-005", fmt::format("slots of documents cannot be multiples of {}", multiple), "document multiple",
           fmt::format("a number from 1 to {}", kSequenceLengthMax), "correct the multiple, or leave it out");
  }
  std::vector<PlacedDocument> documents;
  int64_t start = 0;
  for (size_t d = 0; d < lengths.size(); ++d) {
    const int64_t slot = lengths[d] < 0 || lengths[d] > kSequenceLengthMax ? -1 : round_up(lengths[d], multiple);
    if (slot < 0 || start + slot > kSequenceLengthMax) {
      refuse("RW-LAYOUT-005", fmt::format("document {} of {} tokens, padded to a multiple of {}, cannot stand at {}", d, lengths[d], multiple, start),
             "document lengths", fmt::format("lengths from 0 on, {} in all", kSequenceLengthMax), "check the lengths");
    }
    documents.push_back({start, slot, lengths[d]});
    start += slot;
  }
  return documents;
}

std::vector<int64_t> document_offsets(const std::vector<PlacedDocument>& documents) {
  std::vector<int64_t> offsets = {0};
  for (const PlacedDocument& document : documents) offsets.push_back(document.start + document.slot_length);
  return offsets;
}

int64_t Summary::tokens() const {
  return std::accumulate(documents.begin(), documents.end(), int64_t{0},
                         [](int64_t sum, const PlacedDocument& each) { return sum + each.real_length; });
}

Summary summarize(const Layout& layout, const MaskArea& area, std::vector<PlacedDocument> documents) {
  const int64_t sequence_length = area.length();
  Summary summary;
  summary.layout = layout.name();
  summary.mask = describe(area.mask());
  summary.cp = layout.cp();
  summary.sequence_length = sequence_length;
  summary.padded_length = layout.padded_length(sequence_length);
  summary.divisor = layout.divisor();
  summary.replicated = layout.replicates();
  if (documents.empty()) documents = {{0, sequence_length, sequence_length}};
  summary.documents = std::move(documents);
  double total = 0;
  for (int rank = 0; rank < layout.cp(); ++rank) {
    RankSummary own{.rank = rank, .slots = layout.local_length(summary.padded_length), .runs = layout.runs(summary.padded_length, rank)};
    for (const Run& run : own.runs) own.tokens += tokens_in(summary.documents, run);
    own.padding = own.slots - own.tokens;
    own.visible_pairs = layout.work(area, summary.padded_length, rank);
    total += static_cast<double>(own.visible_pairs);
    summary.ranks.push_back(std::move(own));
  }
  for (RankSummary& own : summary.ranks) {
    if (total > 0) own.work_percent_of_mean = 100 * static_cast<double>(own.visible_pairs) * summary.cp / total;
    if (own.visible_pairs > summary.ranks[static_cast<size_t>(summary.slowest_rank)].visible_pairs) summary.slowest_rank = own.rank;
  }
  return summary;
}

std::string sentence(const Summary& summary) {
  if (summary.cp == 1) return "One rank holds the whole sequence.";
  if (summary.replicated) return fmt::format("Each of the {} ranks holds the whole sequence: {} shares no work.", summary.cp, summary.layout);
  const double percent = summary.slowest_percent();
  const char* work = summary.mask == "causal" ? "causal work" : "work";
  if (percent < 100.05) return fmt::format("All {} ranks do the same {} with {}.", summary.cp, work, summary.layout);
  return fmt::format("Slowest rank: {} with {:.1f} % of the mean {} under {}; {} ranks are as fast as {:.1f} even ones.", summary.slowest_rank,
                     percent, work, summary.layout, summary.cp, summary.cp * 100 / percent);
}

}  // namespace ringwright::layout

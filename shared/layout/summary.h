// What people want to know of a layout: tokens and work of each rank, one sentence about the slowest, and the strip of the global sequence
// in pixel columns. Everything comes from runs; nothing here walks tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/layout/layout.h"
#include "shared/layout/mask_area.h"

namespace ringwright::layout {

// One document of a stream: its slot, and how much of it are tokens.
struct PlacedDocument {
  int64_t start = 0;
  int64_t slot_length = 0;
  int64_t real_length = 0;

  bool operator==(const PlacedDocument&) const = default;
};

// Documents one behind the other, each slot a multiple of `multiple`. Throws Error RW-LAYOUT-005 for a negative length, or a multiple or
// a stream out of range (kSequenceLengthMax).
std::vector<PlacedDocument> place_documents(const std::vector<int64_t>& lengths, int64_t multiple);
// Their cumulative slots, [0, ..., T].
std::vector<int64_t> document_offsets(const std::vector<PlacedDocument>& documents);

struct RankSummary {
  int rank = 0;
  int64_t slots = 0;
  int64_t tokens = 0;
  int64_t padding = 0;
  int64_t visible_pairs = 0;          // (query, key) pairs under the mask
  double work_percent_of_mean = 100;  // 100 where there is no work at all
  std::vector<Run> runs;
};

struct Summary {
  std::string layout;
  std::string mask = "causal";
  int cp = 1;
  int64_t sequence_length = 0;  // of the stream before the layout pads it; padding inside documents counts
  int64_t padded_length = 0;
  int64_t divisor = 1;
  bool replicated = false;  // every rank holds the whole sequence
  int slowest_rank = 0;     // the first of those with the most pairs
  std::vector<PlacedDocument> documents;
  std::vector<RankSummary> ranks;

  int64_t tokens() const;
  int64_t padding() const { return padded_length - tokens(); }
  double slowest_percent() const { return ranks.empty() ? 100 : ranks[static_cast<size_t>(slowest_rank)].work_percent_of_mean; }
};

// area: the mask over the stream that is laid out; its length is the sequence's. documents: empty for one whole sequence. Errors: those of
// Layout::padded_length.
Summary summarize(const Layout& layout, const MaskArea& area, std::vector<PlacedDocument> documents = {});

// "Slowest rank: 3 with 175.0 % of the mean causal work under contiguous; 4 ranks are as fast as 2.3 even ones." One line.
std::string sentence(const Summary& summary);

// One column of a strip over the positions [first, last).
struct Column {
  int owner = -1;  // the rank with the most slots, the lowest of equals; -1: no run covers it
  int64_t owner_slots = 0;
  int owners = 0;                // ranks with at least one slot
  double padding_share = 0;      // part of the column's positions that are no token of a document
  bool document_starts = false;  // a document starts in the column
};

// `width` columns of equal size over the documents of one stream, in order; where there are fewer positions than columns, neighbours show the same
// one. Cost: O(runs log runs + documents + width) for layouts that own each position once. Empty when width or last - first is 0 or less.
std::vector<Column> columns(const std::vector<Run>& runs, int width, int64_t first, int64_t last, const std::vector<PlacedDocument>& documents);

}  // namespace ringwright::layout

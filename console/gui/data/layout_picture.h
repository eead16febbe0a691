// A shard layout as the Layout view draws it: blocks, what each rank holds, and how the work is spread. Pure; computed when a control changes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "shared/layout/layout.h"

namespace ringwright::gui {

// A stream of equal documents; one document: a sequence.
struct LayoutQuestion {
  std::string layout = "round_robin";
  int cp = 4;
  int64_t batch_slots = 16'384;  // width of the batch, a multiple of `documents`
  int64_t tokens = 15'650;       // of them real tokens, equally many in each document; the rest is the batch's own padding
  int64_t documents = 1;
  int64_t chunk = 0;  // balanced: tokens that stay together; 0: chunks that are large enough to be told apart

  bool operator==(const LayoutQuestion&) const = default;
};

struct LayoutBlock {
  int rank;
  int64_t local_start, global_start, length;
  bool tail;           // the second half of a head-tail rank
  int64_t chunk = -1;  // index among all blocks by global position

  int64_t global_end() const { return global_start + length; }
};

struct LayoutRank {
  int64_t slots = 0, tokens = 0;
  int64_t batch_padding = 0, layout_padding = 0;
  int64_t causal_work = 0;     // (query, key) pairs within the documents
  double of_mean = 0;          // causal_work over the mean of all ranks
  std::vector<size_t> blocks;  // indices, by local position; where every rank holds all, those of rank 0
};

struct LayoutPicture {
  LayoutQuestion question;
  int64_t padded_length = 0;
  int64_t document_slots = 0;       // of each document, with what the layout adds to it
  std::vector<LayoutBlock> blocks;  // by global position, without gaps
  std::vector<LayoutRank> ranks;
  int slowest = 0;
  bool replicated = false;  // the identity: every rank holds every token
  int64_t layout_padding() const { return padded_length - question.batch_slots; }
  // Each rank has a chunk from the head and one from the tail.
  bool has_halves() const;
};

// Throws what shared/layout throws for sizes that it refuses.
LayoutPicture picture_layout(const LayoutQuestion& question);

// The block that holds a global position; blocks.size() for one outside the picture. Cost: O(log blocks).
size_t block_index(const LayoutPicture& picture, int64_t global_position);
// The slot of the owner that holds a position of the block.
inline int64_t local_slot(const LayoutBlock& block, int64_t global_position) { return block.local_start + global_position - block.global_start; }
// Real tokens among the positions [start, end).
int64_t tokens_between(const LayoutPicture& picture, int64_t start, int64_t end);

// Positions [start, end) that are no tokens: the batch's own padding, or what the layout adds.
struct PaddedStretch {
  int64_t start, end;
  bool of_layout;

  bool operator==(const PaddedStretch&) const = default;
};
// Those among the positions [start, end), in order. The second form overwrites what is in `stretches`.
std::vector<PaddedStretch> padded_stretches(const LayoutPicture& picture, int64_t start, int64_t end);
void padded_stretches_into(std::vector<PaddedStretch>& stretches, const LayoutPicture& picture, int64_t start, int64_t end);

// Where one global position is: "rank 1, slot 2,210 (tail), global 12,450", with its document where there are several; padding says so.
std::string describe_position(const LayoutPicture& picture, int64_t global_position);
// Stretches of global positions that another rank owns in `other`, as [start, end).
std::vector<std::pair<int64_t, int64_t>> moved_tokens(const LayoutPicture& picture, const LayoutPicture& other);
// "Slowest rank: 132 % of the mean with round_robin, 138 % with contiguous."
std::string summary_sentence(const LayoutPicture& picture, const LayoutPicture* other);

}  // namespace ringwright::gui

// A shard layout as the Layout view draws it: blocks, what each rank holds, and how the work is spread. Pure; computed when a control changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/layout/layout.h"

namespace ringwright::gui {

struct LayoutQuestion {
  std::string layout = "round_robin";
  int cp = 4;
  int64_t batch_slots = 16'384;  // width of the batch
  int64_t tokens = 15'650;       // of them real tokens; the rest is the batch's own padding

  bool operator==(const LayoutQuestion&) const = default;
};

struct LayoutBlock {
  int rank;
  int64_t local_start, global_start, length;
  bool tail;           // the second half of a head-tail rank
  int64_t chunk = -1;  // index among all blocks by global position
};

struct LayoutRank {
  int64_t slots = 0, tokens = 0;
  int64_t batch_padding = 0, layout_padding = 0;
  int64_t causal_work = 0;  // (query, key) pairs
  double of_mean = 0;       // causal_work over the mean of all ranks
};

struct LayoutPicture {
  LayoutQuestion question;
  int64_t padded_length = 0;
  std::vector<LayoutBlock> blocks;  // by global position
  std::vector<LayoutRank> ranks;
  int slowest = 0;
  bool replicated = false;  // the identity: every rank holds every token
  int64_t layout_padding() const { return padded_length - question.batch_slots; }
};

// Throws what shared/layout throws for sizes that it refuses.
LayoutPicture picture_layout(const LayoutQuestion& question);

// Where one global position is: "rank 1, slot 2,210 (tail), global 12,450"; padding says so.
std::string describe_position(const LayoutPicture& picture, int64_t global_position);
// Stretches of global positions that another rank owns in `other`, as [start, end).
std::vector<std::pair<int64_t, int64_t>> moved_tokens(const LayoutPicture& picture, const LayoutPicture& other);
// "Slowest rank: 132 % of the mean with round_robin, 138 % with contiguous."
std::string summary_sentence(const LayoutPicture& picture, const LayoutPicture* other);

}  // namespace ringwright::gui

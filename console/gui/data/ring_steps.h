// The steps of ring attention over a layout's blocks: whose keys a rank sees when, and how much of that the causal mask leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "console/gui/data/layout_picture.h"

namespace ringwright::gui {

// partial: of several documents, some pairs are of different ones.
enum class Cell { full, causal, partial, masked };
// Queries of block `query` against keys of block `key` (indices by global position).
Cell mask_cell(const LayoutPicture& picture, size_t query, size_t key);
// Pairs of real tokens that the cell computes, and the share of its pairs that they are.
int64_t cell_work(const LayoutPicture& picture, size_t query, size_t key);
double cell_share(const LayoutPicture& picture, size_t query, size_t key);
// The step (from 0) at which the owner of the queries holds these keys: they travel from rank to the next rank.
int ring_step(const LayoutPicture& picture, size_t query, size_t key);

struct RingStepRow {
  int rank = 0, keys_from = 0;
  int blocks = 0, masked = 0;  // chunk pairs of this rank in this step, and those that the mask removes whole
  int64_t work = 0;            // (query, key) pairs
};
// One row a rank.
std::vector<RingStepRow> ring_step_rows(const LayoutPicture& picture, int step);

}  // namespace ringwright::gui

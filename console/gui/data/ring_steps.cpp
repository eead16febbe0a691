#include "console/gui/data/ring_steps.h"

#include <algorithm>

namespace ringwright::gui {
namespace {

int64_t real_tokens(const LayoutPicture& picture, const LayoutBlock& block) {
  return std::clamp<int64_t>(picture.question.tokens - block.global_start, 0, block.length);
}

}  // namespace

Cell mask_cell(const LayoutPicture& picture, size_t query, size_t key) {
  const LayoutBlock &q = picture.blocks[query], &k = picture.blocks[key];
  if (k.global_start > q.global_start) return Cell::masked;
  return query == key ? Cell::causal : Cell::full;
}

int ring_step(const LayoutPicture& picture, size_t query, size_t key) {
  const int cp = picture.question.cp;
  return (picture.blocks[query].rank - picture.blocks[key].rank + cp) % cp;
}

std::vector<RingStepRow> ring_step_rows(const LayoutPicture& picture, int step) {
  const int cp = picture.question.cp;
  std::vector<RingStepRow> rows(static_cast<size_t>(cp));
  for (int rank = 0; rank < cp; ++rank) rows[static_cast<size_t>(rank)] = {rank, (rank - step + cp) % cp, 0, 0, 0};
  for (size_t query = 0; query < picture.blocks.size(); ++query) {
    for (size_t key = 0; key < picture.blocks.size(); ++key) {
      if (ring_step(picture, query, key) != step) continue;
      RingStepRow& row = rows[static_cast<size_t>(picture.blocks[query].rank)];
      const Cell cell = mask_cell(picture, query, key);
      ++row.blocks;
      row.masked += cell == Cell::masked ? 1 : 0;
      const int64_t queries = real_tokens(picture, picture.blocks[query]), keys = real_tokens(picture, picture.blocks[key]);
      if (cell == Cell::full) row.work += queries * keys;
      if (cell == Cell::causal) row.work += queries * (queries + 1) / 2;
    }
  }
  return rows;
}

}  // namespace ringwright::gui

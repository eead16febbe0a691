#include "console/gui/data/ring_steps.h"

#include <algorithm>
#include <utility>

namespace ringwright::gui {
namespace {

int64_t real_tokens(const LayoutPicture& picture, const LayoutBlock& block) {
  return tokens_between(picture, block.global_start, block.global_end());
}

// Tokens of one document in a block.
int64_t tokens_of_document(const LayoutPicture& picture, const LayoutBlock& block, int64_t document) {
  const int64_t start = document * picture.document_slots, end = start + picture.document_slots;
  const int64_t from = std::max(start, block.global_start), to = std::min(end, block.global_end());
  return from < to ? tokens_between(picture, from, to) : 0;
}

// Documents that have slots in the block, [first, second).
std::pair<int64_t, int64_t> documents_of(const LayoutPicture& picture, const LayoutBlock& block) {
  const int64_t last = picture.question.documents;
  return {std::min(block.global_start / picture.document_slots, last), std::min((block.global_end() - 1) / picture.document_slots + 1, last)};
}

}  // namespace

int64_t cell_work(const LayoutPicture& picture, size_t query, size_t key) {
  const LayoutBlock &q = picture.blocks[query], &k = picture.blocks[key];
  if (k.global_start > q.global_start) return 0;
  const auto in_query = documents_of(picture, q), in_key = documents_of(picture, k);
  int64_t work = 0;
  for (int64_t document = std::max(in_query.first, in_key.first); document < std::min(in_query.second, in_key.second); ++document) {
    const int64_t queries = tokens_of_document(picture, q, document);
    work += query == key ? queries * (queries + 1) / 2 : queries * tokens_of_document(picture, k, document);
  }
  return work;
}

double cell_share(const LayoutPicture& picture, size_t query, size_t key) {
  const int64_t queries = real_tokens(picture, picture.blocks[query]), keys = real_tokens(picture, picture.blocks[key]);
  const double all =
      query == key ? 0.5 * static_cast<double>(queries) * static_cast<double>(queries + 1) : static_cast<double>(queries) * static_cast<double>(keys);
  return all > 0 ? static_cast<double>(cell_work(picture, query, key)) / all : 0;
}

Cell mask_cell(const LayoutPicture& picture, size_t query, size_t key) {
  const LayoutBlock &q = picture.blocks[query], &k = picture.blocks[key];
  if (k.global_start > q.global_start) return Cell::masked;
  const auto in_query = documents_of(picture, q), in_key = documents_of(picture, k);
  const auto holds_one = [](const std::pair<int64_t, int64_t>& documents) { return documents.second - documents.first <= 1; };
  if (holds_one(in_query) && holds_one(in_key)) {
    if (in_query != in_key && in_query.second > in_query.first && in_key.second > in_key.first) return Cell::masked;
    return query == key ? Cell::causal : Cell::full;
  }
  return cell_work(picture, query, key) == 0 ? Cell::masked : Cell::partial;
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
      row.work += cell_work(picture, query, key);
    }
  }
  return rows;
}

}  // namespace ringwright::gui

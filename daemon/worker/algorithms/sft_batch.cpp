#include "daemon/worker/algorithms/sft_batch.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "shared/layout/packing.h"

namespace ringwright::worker {
namespace {

SftBatch empty_batch(int64_t row_count, int64_t length, int64_t pad_id) {
  SftBatch batch;
  batch.ids_BS = at::full({row_count, length}, pad_id, at::kLong);
  batch.targets_BS = at::full({row_count, length}, kIgnoredTarget, at::kLong);
  batch.weights_BS = at::zeros({row_count, length}, at::kFloat);
  batch.positions_BS = at::empty({row_count, length}, at::kLong);
  return batch;
}

// Writes the rows into slots of the flattened batch, then each position's target: shifted inside a row or document, never over its edge.
void fill(const std::vector<const Row*>& rows, const std::vector<int64_t>& offsets, int64_t global_token_count, SftBatch& batch) {
  int64_t* ids = batch.ids_BS.data_ptr<int64_t>();
  int64_t* positions = batch.positions_BS.data_ptr<int64_t>();
  std::vector<uint8_t> trained(static_cast<size_t>(offsets.back()), 0);
  for (size_t row = 0; row < rows.size(); ++row) {
    const int64_t start = offsets[row], end = offsets[row + 1];
    std::copy(rows[row]->ids.begin(), rows[row]->ids.end(), ids + start);
    std::copy(rows[row]->trained.begin(), rows[row]->trained.end(), trained.begin() + static_cast<std::ptrdiff_t>(start));
    std::iota(positions + start, positions + end, int64_t{0});
    batch.lengths.push_back(static_cast<int64_t>(rows[row]->ids.size()));
    batch.longest_length = std::max(batch.longest_length, end - start);
  }
  const float weight = 1.0F / static_cast<float>(std::max<int64_t>(global_token_count, 1));
  const std::vector<int64_t> next = layout::next_token_positions(offsets, batch.lengths);
  int64_t* targets = batch.targets_BS.data_ptr<int64_t>();
  float* weights = batch.weights_BS.data_ptr<float>();
  for (size_t t = 0; t < next.size(); ++t) {
    if (next[t] < 0 || !trained[static_cast<size_t>(next[t])]) continue;
    targets[t] = ids[next[t]];
    weights[t] = weight;
    ++batch.token_count;
  }
}

}  // namespace

std::vector<const Row*> rows_of_rank(const std::vector<const Row*>& rows, int rank, int size) {
  const auto place = [&](int r) {
    return rows.begin() + static_cast<std::ptrdiff_t>(rows.size() * static_cast<size_t>(r) / static_cast<size_t>(size));
  };
  return {place(rank), place(rank + 1)};
}

int64_t count_targets(const std::vector<const Row*>& rows) {
  int64_t count = 0;
  for (const Row* row : rows) count += std::count(row->trained.begin() + 1, row->trained.end(), uint8_t{1});
  return count;
}

SftBatch make_batch(const std::vector<const Row*>& rows, const Microbatch& microbatch, int64_t pad_id, int64_t global_token_count) {
  std::vector<const Row*> own;
  int64_t longest = microbatch.row_length;
  for (const size_t index : microbatch.rows) {
    own.push_back(rows[index]);
    longest = std::max(longest, static_cast<int64_t>(rows[index]->ids.size()));
  }
  const bool packed = !microbatch.slot_lengths.empty();
  std::vector<int64_t> offsets = {0};
  for (size_t i = 0; i < own.size(); ++i) offsets.push_back(offsets.back() + (packed ? microbatch.slot_lengths[i] : longest));
  SftBatch batch = packed ? empty_batch(1, offsets.back(), pad_id) : empty_batch(static_cast<int64_t>(own.size()), longest, pad_id);
  fill(own, offsets, global_token_count, batch);
  if (packed) batch.document_offsets = std::move(offsets);
  return batch;
}

at::Tensor tokens_of(const SftBatch& batch, const at::Tensor& tensor_BS, size_t index) {
  if (batch.packed()) return tensor_BS[0].narrow(0, batch.document_offsets[index], batch.lengths[index]);
  return tensor_BS[static_cast<int64_t>(index)].narrow(0, 0, batch.lengths[index]);
}

}  // namespace ringwright::worker

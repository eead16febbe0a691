#include "daemon/worker/algorithms/sft_batch.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringwright::worker {

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

SftBatch make_sft_batch(const std::vector<const Row*>& rows, int64_t pad_id, int64_t global_token_count) {
  int64_t length = 0;
  for (const Row* row : rows) length = std::max(length, static_cast<int64_t>(row->ids.size()));
  const auto row_count = static_cast<int64_t>(rows.size());
  SftBatch batch;
  batch.row_count = row_count;
  batch.token_count = count_targets(rows);
  batch.ids_BS = at::full({row_count, length}, pad_id, at::kLong);
  batch.targets_BS = at::full({row_count, length}, kIgnoredTarget, at::kLong);
  batch.weights_BS = at::zeros({row_count, length}, at::kFloat);
  const float weight = 1.0F / static_cast<float>(std::max<int64_t>(global_token_count, 1));
  for (int64_t b = 0; b < row_count; ++b) {
    const Row& row = *rows[static_cast<size_t>(b)];
    int64_t* ids = batch.ids_BS.data_ptr<int64_t>() + b * length;
    int64_t* targets = batch.targets_BS.data_ptr<int64_t>() + b * length;
    float* weights = batch.weights_BS.data_ptr<float>() + b * length;
    std::copy(row.ids.begin(), row.ids.end(), ids);
    const NextTokenTargets next = next_token_targets(row.ids);
    for (size_t t = 0; t + 1 < row.ids.size(); ++t) {
      if (next.mask[t] == 0 || !row.trained[t + 1]) continue;
      targets[t] = next.targets[t];
      weights[t] = weight;
    }
  }
  return batch;
}

}  // namespace ringwright::worker

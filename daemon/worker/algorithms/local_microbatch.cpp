#include "daemon/worker/algorithms/local_microbatch.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "daemon/worker/context_parallel/resolution.h"
#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/shard_errors.h"
#include "daemon/worker/context_parallel/stream.h"

namespace ringwright::worker {
namespace {

Batch to_batch(const SftBatch& batch) {
  Batch result = {{"input_ids", batch.ids_BS}, {"labels", batch.targets_BS}, {"position_ids", batch.positions_BS}};
  if (!batch.packed()) return result;
  std::vector<int64_t> slots;
  for (size_t i = 0; i + 1 < batch.document_offsets.size(); ++i) slots.push_back(batch.document_offsets[i + 1] - batch.document_offsets[i]);
  add_document_lengths(result, {batch.lengths}, {slots});
  return result;
}

at::Tensor as_rows(const at::Tensor& local) { return local.dim() == 1 ? local.unsqueeze(0) : local; }

// A model that cuts its own primary stream is given it whole.
at::Tensor local_ids(const Sharder& sharder, const Batch& local, const SftBatch& whole, int64_t pad_token_id) {
  const at::Tensor& ids = local.at("input_ids");
  if (!ids.is_same(whole.ids_BS)) return as_rows(ids);
  return cut_in_model(ids, 1, static_cast<double>(pad_token_id), *sharder.layout(), sharder.group().rank).local;
}

// The documents as attention sees them: rows of one document each need no edges. Throws Error RW-SHARD-003 where edges would be lost.
layout::Mask mask_of(const Sharder& sharder) {
  layout::Mask mask;
  const auto& rows = sharder.facts().row_document_offsets;
  if (rows.size() == 1) mask.document_offsets = rows.front();
  const bool edges_lost = rows.size() > 1 && std::any_of(rows.begin(), rows.end(), [](const auto& offsets) { return offsets.size() > 2; });
  if (edges_lost)
    throw_unsupported(fmt::format("{} packed rows in one microbatch: attention takes one mask for all rows", rows.size()),
                      "one packed row at a time");
  return mask;
}

}  // namespace

LocalMicrobatch whole_microbatch(const SftBatch& batch) {
  LocalMicrobatch local{batch.ids_BS, batch.positions_BS, batch.targets_BS, batch.weights_BS, {}, nullptr, batch.longest_length, {}};
  local.mask.document_offsets = batch.document_offsets;
  local.gather = [](const at::Tensor& local_BL) { return local_BL; };
  return local;
}

ShardFunction make_shard_function(ShardedModel model, const ProcessGroup& cp_group, const SharderOptions& options) {
  return [model = std::move(model), cp_group, options](const SftBatch& batch) {
    const Batch whole = to_batch(batch);
    ShardRequest request;
    request.batch = &whole, request.model = &model;
    request.batch_options = options.batch, request.chunk = options.chunk.value_or(layout::kChunkDefault), request.mask = options.mask;
    Resolution resolution = resolve_sharder(request, cp_group);
    const auto sharder = std::make_shared<Sharder>(std::move(resolution.sharder));
    // Targets were shifted on the whole row: the last token of a slice has its target on another rank.
    const Batch local = sharder->shard(resolution.batch);
    LocalMicrobatch result;
    result.ids_BL = local_ids(*sharder, local, batch, options.batch.padding_token_id);
    result.positions_BL = as_rows(local.at("position_ids"));
    result.targets_BL = as_rows(local.at("labels"));
    result.weights_BL = as_rows(sharder->shard_token_tensor(batch.weights_BS, 1, 0));
    result.mask = mask_of(*sharder);
    result.layout = sharder->layout();
    result.longest_length = batch.longest_length;
    result.gather = [sharder](const at::Tensor& local_BL) {
      const int64_t axis = sharder->token_axis();
      return sharder->gather_token_tensor(axis == 0 ? local_BL.squeeze(0) : local_BL, axis, true, 0);
    };
    return result;
  };
}

}  // namespace ringwright::worker

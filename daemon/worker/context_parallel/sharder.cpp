#include "daemon/worker/context_parallel/sharder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "daemon/worker/context_parallel/shard_errors.h"
#include "daemon/worker/context_parallel/token_gather.h"
#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

std::string to_text(const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "none"; }

int64_t check_axis(const at::Tensor& tensor, int64_t axis) {
  if (axis < 0 || axis >= tensor.dim()) {
    throw_bad_argument(fmt::format("sequence axis {} of a tensor of shape [{}]", axis, fmt::join(tensor.sizes(), ", ")),
                       "an axis of the tensor; 0 for a flat stream");
  }
  return axis;
}

bool starts_with(at::IntArrayRef shape, at::IntArrayRef leading) {
  return shape.size() >= leading.size() && shape.slice(0, leading.size()) == leading;
}

}  // namespace

Sharder::Sharder(StrategyPointer strategy, ProcessGroup group, ShardFacts facts)
    : strategy_(std::move(strategy)), group_(std::move(group)), facts_(std::move(facts)) {
  if (!strategy_) {
    throw_misuse("a sharder without a strategy", "the strategy that the facts and the index map belong to");
  }
  const std::shared_ptr<const layout::Layout> known = layout();
  if (known && known->cp() != group_.size) {
    throw_misuse(fmt::format("the layout is for cp = {}, the CP group has {} ranks", known->cp(), group_.size), "the same number");
  }
}

Batch Sharder::shard(const Batch& batch) {
  facts_ = {};
  ShardedBatch sharded = strategy_->shard(batch, group_);
  facts_ = std::move(sharded.facts);
  return std::move(sharded.batch);
}

at::Tensor Sharder::index_map(int64_t padded_length, int rank) const {
  if (facts_.local_token_global_indices.defined() && rank == group_.rank) {
    const int64_t known = facts_.local_token_global_indices.numel() * group_.size;
    if (known != padded_length) {
      throw_bad_argument(fmt::format("a length of {} does not match the shard layout's {}", padded_length, known), "the length that was sharded");
    }
    return facts_.local_token_global_indices.flatten().to(at::kLong);
  }
  const std::shared_ptr<const layout::Layout> known = layout();
  if (!known) {
    throw_unsupported("the layout is data-dependent, and it was asked for before the first shard", "a batch that was sharded before");
  }
  return index_tensor(*known, padded_length, rank);
}

// A captured map that no layout stands behind is known to its own rank alone.
std::vector<at::Tensor> Sharder::index_maps(int64_t padded_length) const {
  const at::Tensor own = index_map(padded_length, group_.rank);
  if (facts_.local_token_global_indices.defined() && !facts_.layout) {
    return all_gather(own, group_);
  }
  std::vector<at::Tensor> maps;
  for (int rank = 0; rank < group_.size; ++rank) {
    maps.push_back(rank == group_.rank ? own : index_map(padded_length, rank));
  }
  return maps;
}

// Tokens of the caller's rows move to where the layout rebuilt them.
at::Tensor Sharder::place_by_position(const at::Tensor& tensor, std::optional<double> fill) const {
  if (!fill) {
    throw_bad_argument("a tensor in the batch's own coordinates needs `fill`: the layout re-packed the rows", "the value that padding gets");
  }
  const at::Tensor positions = facts_.input_token_stream_positions.to(tensor.device());
  const at::Tensor rows = at::arange(tensor.size(0), positions.options()).unsqueeze(1).expand_as(positions);
  const at::Tensor kept = positions >= 0;
  const at::Tensor result = at::full({tensor.size(0), *facts_.padded_length}, *fill, tensor.options().requires_grad(false));
  return result.index_put({rows.masked_select(kept), positions.masked_select(kept)}, tensor.masked_select(kept));
}

// Rows [B, S] as the stream [B * S'], where S' is the length that the rows were padded to.
at::Tensor Sharder::rows_as_stream(const at::Tensor& rows, std::optional<double> fill) const {
  const int64_t padded_row = facts_.input_row_shape.back();
  const int64_t row_axis = static_cast<int64_t>(facts_.input_row_shape.size()) - 1;
  if (rows.size(row_axis) != padded_row && !fill) {
    throw_bad_argument(fmt::format("rows of {} tokens were padded to {}", rows.size(row_axis), padded_row), "a `fill`: the value that padding gets");
  }
  return pad_right(rows, row_axis, padded_row, fill.value_or(0)).flatten(0, row_axis);
}

at::Tensor Sharder::pad_to_layout(const at::Tensor& tensor, int64_t axis, std::optional<double> fill) const {
  const int64_t length = tensor.size(axis);
  if (!facts_.padded_length || length == *facts_.padded_length) {
    return tensor;
  }
  const int64_t original_length =
      facts_.input_row_shape.empty() ? facts_.original_length.value_or(-1) : c10::multiply_integers(facts_.input_row_shape);
  if (!fill || length != original_length) {
    throw_bad_argument(fmt::format("a length of {} on axis {} where padded_seq_len={}, original_seq_len={}", length, axis,
                                   to_text(facts_.padded_length), to_text(facts_.original_length)),
                       "the padded length, or the original one and a `fill`");
  }
  return pad_right(tensor, axis, *facts_.padded_length, *fill);
}

at::Tensor Sharder::shard_token_tensor(const at::Tensor& tensor, int64_t sequence_axis, std::optional<double> fill) const {
  at::Tensor full = tensor;
  int64_t axis = sequence_axis;
  if (facts_.input_token_stream_positions.defined()) {
    if (tensor.dim() > 2) {
      throw_bad_argument(fmt::format("a tensor of {} axes, where the batch's rows were packed anew", tensor.dim()), "two axes: [B, S]");
    }
    if (tensor.sizes() == facts_.input_token_stream_positions.sizes()) {
      full = place_by_position(tensor, fill);
      axis = 1;
    }
  } else if (!facts_.input_row_shape.empty()) {
    std::vector<int64_t> caller_shape = facts_.input_row_shape;
    caller_shape.back() = facts_.original_length.value_or(caller_shape.back());
    if (starts_with(full.sizes(), caller_shape) || starts_with(full.sizes(), facts_.input_row_shape)) {
      full = rows_as_stream(full, fill);
      axis = 0;
    }
  }
  check_axis(full, axis);
  full = pad_to_layout(full, axis, fill);
  return cut_tokens(full, axis, index_map(full.size(axis), group_.rank)).contiguous();
}

at::Tensor Sharder::gather_token_tensor(const at::Tensor& tensor, int64_t sequence_axis, bool trim_to_original, std::optional<double> fill) const {
  check_axis(tensor, sequence_axis);
  if (!facts_.input_row_shape.empty() && sequence_axis != 0) {
    throw_bad_argument(fmt::format("sequence axis {} of a flat stream's shard", sequence_axis), "axis 0");
  }
  const int64_t padded_length = tensor.size(sequence_axis) * group_.size;
  at::Tensor full = tensor;
  if (group_.size > 1 && group_.backend) {
    full = gather_tokens(tensor, sequence_axis, index_maps(padded_length), group_);
  } else {
    index_map(padded_length, group_.rank);  // the length must be one that the layout knows
  }
  return trim_to_original ? trim(full, sequence_axis, fill) : full;
}

at::Tensor Sharder::trim(const at::Tensor& full, int64_t sequence_axis, std::optional<double> fill) const {
  if (facts_.padded_length && *facts_.padded_length != full.size(sequence_axis)) {
    throw_bad_argument(
        fmt::format("the gathered length is {}, but the shard layout reported padded_seq_len {}", full.size(sequence_axis), *facts_.padded_length),
        "parts of the batch that was sharded last");
  }
  if (facts_.input_token_stream_positions.defined()) {
    if (!fill || full.dim() != 2) {
      throw_bad_argument("trimming a re-packed batch needs `fill` and a tensor of two axes", "shape [B, S] and the value that dropped slots get");
    }
    const at::Tensor positions = facts_.input_token_stream_positions.to(full.device());
    return full.gather(1, positions.clamp_min(0)).masked_fill(positions < 0, *fill);
  }
  if (!facts_.input_row_shape.empty()) {
    return stream_as_rows(full);
  }
  if (facts_.original_length) {
    return full.narrow(sequence_axis, 0, *facts_.original_length);
  }
  throw_unsupported("there is no shard layout to trim to", "a batch that was sharded before");
}

at::Tensor Sharder::stream_as_rows(const at::Tensor& full) const {
  const at::Tensor rows = full.narrow(0, 0, c10::multiply_integers(facts_.input_row_shape)).unflatten(0, facts_.input_row_shape);
  const int64_t row_axis = static_cast<int64_t>(facts_.input_row_shape.size()) - 1;
  return rows.narrow(row_axis, 0, facts_.original_length.value_or(facts_.input_row_shape.back()));
}

}  // namespace ringwright::worker

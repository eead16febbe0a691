#include "daemon/worker/context_parallel/sharder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

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

bool starts_with(at::IntArrayRef shape, const std::vector<int64_t>& leading) {
  return !leading.empty() && shape.size() >= leading.size() && std::equal(leading.begin(), leading.end(), shape.begin());
}

}  // namespace

Sharder::Sharder(std::shared_ptr<const layout::Layout> layout, ProcessGroup group, BatchRules rules, BatchOptions options, ShardFacts facts)
    : layout_(std::move(layout)), group_(std::move(group)), rules_(rules), options_(std::move(options)), facts_(std::move(facts)) {
  if (layout_ && layout_->cp() != group_.size) {
    throw_misuse(fmt::format("the layout is for cp = {}, the CP group has {} ranks", layout_->cp(), group_.size), "the same number");
  }
}

Batch Sharder::shard(const Batch& batch) {
  const at::Tensor& primary = batch.at(primary_key(batch));
  facts_ = {};
  if (primary.dim() < 2) {
    if (rules_.moves_data) {
      throw_bad_argument(fmt::format("the batch's primary stream has the shape [{}]", fmt::join(primary.sizes(), ", ")), "rows and tokens: [B, S]");
    }
    return batch;
  }
  const int64_t sequence_length = primary.size(1);
  const int64_t padded_length = layout_->padded_length(sequence_length);
  facts_.original_length = sequence_length;
  facts_.padded_length = padded_length;
  if (!rules_.moves_data) {
    return batch;
  }
  const at::Tensor map = index_map(padded_length, group_.rank).to(primary.device());
  return BatchSharding(rules_, options_).apply(batch, padded_length, [&](const at::Tensor& tensor, int64_t axis) {
    return tensor.index_select(axis, map);
  });
}

at::Tensor Sharder::index_map(int64_t padded_length, int rank) const {
  const std::vector<int64_t>& captured = facts_.local_token_global_indices;
  if (!captured.empty()) {
    const int64_t known = static_cast<int64_t>(captured.size()) * group_.size;
    if (known != padded_length) {
      throw_bad_argument(fmt::format("a length of {} does not match the shard layout's {}", padded_length, known), "the length that was sharded");
    }
    return at::tensor(captured, at::kLong);
  }
  if (!layout_) {
    throw_unsupported("the layout is data-dependent, and it was asked for before the first shard", "a batch that was sharded before");
  }
  return at::tensor(layout_->local_token_global_indices(padded_length, rank), at::kLong);
}

std::vector<at::Tensor> Sharder::index_maps(int64_t padded_length) const {
  const at::Tensor own = index_map(padded_length, group_.rank);
  if (!facts_.local_token_global_indices.empty()) {
    return all_gather(own, group_);
  }
  std::vector<at::Tensor> maps;
  for (int rank = 0; rank < group_.size; ++rank) {
    maps.push_back(index_map(padded_length, rank));
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

at::Tensor Sharder::shard_token_tensor(const at::Tensor& tensor, int64_t sequence_axis, std::optional<double> fill) const {
  at::Tensor full = tensor;
  int64_t axis = sequence_axis;
  if (facts_.input_token_stream_positions.defined()) {
    if (tensor.dim() > 2) {
      throw_bad_argument("a re-packed batch takes tensors of two axes only", "shape [B, S]");
    }
    if (tensor.sizes() == facts_.input_token_stream_positions.sizes()) {
      full = place_by_position(tensor, fill);
      axis = 1;
    }
  }
  if (starts_with(full.sizes(), facts_.input_row_shape)) {
    full = full.flatten(0, static_cast<int64_t>(facts_.input_row_shape.size()) - 1);
    axis = 0;
  }
  check_axis(full, axis);
  if (facts_.padded_length && full.size(axis) != *facts_.padded_length) {
    if (!fill || facts_.original_length != full.size(axis)) {
      throw_bad_argument(fmt::format("a length of {} on axis {} where padded_seq_len={}, original_seq_len={}", full.size(axis), axis,
                                     to_text(facts_.padded_length), to_text(facts_.original_length)),
                         "the padded length, or the original one and a `fill`");
    }
    full = pad_right(full, axis, *facts_.padded_length, *fill);
  }
  return full.index_select(axis, index_map(full.size(axis), group_.rank).to(full.device()));
}

at::Tensor Sharder::gather_token_tensor(const at::Tensor& tensor, int64_t sequence_axis, bool trim_to_original, std::optional<double> fill) const {
  check_axis(tensor, sequence_axis);
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
    return full.unflatten(0, facts_.input_row_shape);
  }
  if (facts_.original_length) {
    return full.narrow(sequence_axis, 0, *facts_.original_length);
  }
  throw_unsupported("there is no shard layout to trim to", "a batch that was sharded before");
}

namespace {

struct Flavour {
  std::string_view name;
  BatchRules rules;
};

const std::array<Flavour, 3>& flavours() {
  static const std::array<Flavour, 3> table = [] {
    BatchRules none, contiguous;
    none.moves_data = false;
    contiguous = {.moves_data = true,
                  .pads_with_token_id = true,
                  .continues_positions = true,
                  .converts_attention_mask = true,
                  .loss_mask_for_labels = true,
                  .requires_extra_keys = false};
    return std::array<Flavour, 3>{{{"none", none}, {"round_robin", BatchRules{}}, {"contiguous", contiguous}}};
  }();
  return table;
}

}  // namespace

Sharder make_sharder(std::string_view flavour, const ProcessGroup& group, const SharderOptions& options) {
  const std::string_view name = flavour == "round_robin" && group.size == 1 ? "none" : flavour;
  if (name == "none" && group.size > 1) {
    throw_misuse(fmt::format("the layout \"none\" over a CP group of {} ranks", group.size), "round_robin or contiguous");
  }
  std::shared_ptr<const layout::Layout> layout = layout::make_layout(name, group.size, {.pad_multiple = options.pad_multiple});
  for (const Flavour& known : flavours()) {
    if (known.name == name) {
      return Sharder(std::move(layout), group, known.rules, options.batch);
    }
  }
  throw_misuse(fmt::format("the layout \"{}\" has no batch rules", name), "none, round_robin or contiguous");
}

}  // namespace ringwright::worker

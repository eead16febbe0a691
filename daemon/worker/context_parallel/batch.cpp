#include "daemon/worker/context_parallel/batch.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "daemon/worker/context_parallel/shard_errors.h"

namespace ringwright::worker {
namespace {

// Tensors with one fixed pad value and sequence axis 1. input_ids and position_ids depend on the flavour.
struct KnownKey {
  const char* name;
  double pad;
};
constexpr std::array<KnownKey, 4> kKnownKeys = {{{"inputs_embeds", 0}, {"labels", kIgnoredLabel}, {"padding_mask", 1}, {"loss_mask", 0}}};

bool is_known(const std::string& key) {
  for (const KnownKey& known : kKnownKeys) {
    if (key == known.name) {
      return true;
    }
  }
  return key == "input_ids" || key == "position_ids" || key == "attention_mask";
}

int64_t position_axis(const at::Tensor& position_ids) { return position_ids.dim() == 3 ? 2 : 1; }

at::Tensor position_ids_of(const Batch& batch, const at::Tensor& primary) {
  const int64_t rows = primary.size(0), length = primary.size(1);
  const auto found = batch.find("position_ids");
  if (found == batch.end()) {
    return at::arange(length, primary.options().dtype(at::kLong).requires_grad(false)).expand({rows, length});
  }
  const at::Tensor& given = found->second;
  return given.dim() == 2 && given.size(0) == 1 && rows > 1 ? given.expand({rows, given.size(1)}) : given;
}

at::Tensor continue_positions(const at::Tensor& positions, int64_t axis, int64_t length) {
  const int64_t size = positions.size(axis);
  if (size == length) {
    return positions;
  }
  std::vector<int64_t> shape(static_cast<size_t>(positions.dim()), 1);
  shape[static_cast<size_t>(axis)] = length - size;
  const at::Tensor steps = at::arange(1, length - size + 1, positions.options()).reshape(shape);
  return at::cat({positions, positions.narrow(axis, size - 1, 1) + steps}, axis);
}

void check_length(const std::string& key, const at::Tensor& tensor, int64_t axis, int64_t length) {
  if (axis < 0 || axis >= tensor.dim() || tensor.size(axis) != length) {
    throw_bad_argument(
        fmt::format("\"{}\" has the shape [{}], the sequence on axis {} should be {} long", key, fmt::join(tensor.sizes(), ", "), axis, length),
        "every tensor of the batch as long as input_ids or inputs_embeds");
  }
}

void pad_known(Batch& batch, const std::string& key, double value, int64_t sequence_length, int64_t padded_length) {
  const auto found = batch.find(key);
  if (found != batch.end()) {
    check_length(key, found->second, 1, sequence_length);
    found->second = pad_right(found->second, 1, padded_length, value);
  }
}

}  // namespace

bool Batch::declares_stream() const {
  const auto found = values.find("qkv_format");
  return found != values.end() && found->second == BatchValue("thd");
}

const at::Tensor& Batch::required(const std::string& key) const {
  const auto found = find(key);
  if (found == end()) {
    throw_missing_key(key);
  }
  return found->second;
}

std::string primary_key(const Batch& batch) {
  const bool ids = batch.count("input_ids") > 0, embeddings = batch.count("inputs_embeds") > 0;
  if (ids == embeddings) {
    throw_bad_argument(ids ? "the batch has both input_ids and inputs_embeds" : "the batch has neither input_ids nor inputs_embeds",
                       "exactly one of them");
  }
  return ids ? "input_ids" : "inputs_embeds";
}

at::Tensor pad_right(const at::Tensor& tensor, int64_t axis, int64_t length, double value) {
  const int64_t missing = length - tensor.size(axis);
  if (missing <= 0) {
    return tensor;
  }
  std::vector<int64_t> shape = tensor.sizes().vec();
  shape[static_cast<size_t>(axis)] = missing;
  return at::cat({tensor, at::full(shape, value, tensor.options().requires_grad(false))}, axis);
}

at::Tensor padding_mask_from_attention_mask(const at::Tensor& attention_mask) {
  if (attention_mask.dim() != 4) {
    return attention_mask == 0;
  }
  const at::Tensor diagonal = attention_mask.select(1, 0).diagonal(0, -2, -1);
  return attention_mask.scalar_type() == at::kBool ? diagonal.logical_not() : diagonal != 0;
}

// Everything that the flavour derives, at its original length.
Batch BatchSharding::complete(const Batch& batch) const {
  Batch result = batch;
  result["position_ids"] = position_ids_of(batch, batch.at(primary_key(batch)));
  if (rules_.converts_attention_mask && batch.count("attention_mask") > 0 && batch.count("padding_mask") == 0) {
    result["padding_mask"] = padding_mask_from_attention_mask(batch.at("attention_mask"));
  }
  result.erase("attention_mask");
  if (result.count("labels") == 0) {
    if (!rules_.loss_mask_for_labels || result.count("loss_mask") == 0) {
      throw_missing_key("labels");
    }
    result["labels"] = result["loss_mask"];
    result.erase("loss_mask");
  }
  return result;
}

Batch BatchSharding::as_one_row(const Batch& batch) const {
  for (const auto& [key, axis] : options_.extra_sequence_keys) {
    if (axis != 1 && batch.count(key) > 0 && !is_known(key)) {
      throw_unsupported(fmt::format("\"{}\" has its sequence on axis {}, and rows become one stream here", key, axis),
                        "the sequence on axis 1, behind the rows");
    }
  }
  Batch result = complete(batch);
  for (const auto& [key, axis] : sequence_axes(result)) {
    at::Tensor& tensor = result[key];
    if (axis >= tensor.dim()) {
      throw_bad_argument(fmt::format("\"{}\" has {} axes", key, tensor.dim()), "rows and tokens: [B, S]");
    }
    tensor = tensor.flatten(axis - 1, axis).unsqueeze(axis - 1);
  }
  return result;
}

Batch BatchSharding::pad(const Batch& batch, int64_t padded_length) const {
  const std::string primary = primary_key(batch);
  const int64_t sequence_length = batch.at(primary).size(1);
  Batch result = complete(batch);
  if (options_.shard_primary) {
    pad_known(result, "input_ids", rules_.pads_with_token_id ? static_cast<double>(options_.padding_token_id) : 0, sequence_length, padded_length);
  }
  for (const KnownKey& known : kKnownKeys) {
    if (options_.shard_primary || primary != known.name) {
      pad_known(result, known.name, known.pad, sequence_length, padded_length);
    }
  }
  at::Tensor& positions = result["position_ids"];
  const int64_t axis = position_axis(positions);
  check_length("position_ids", positions, axis, sequence_length);
  positions = rules_.continues_positions ? continue_positions(positions, axis, padded_length) : pad_right(positions, axis, padded_length, 0);
  pad_extra(result, sequence_length, padded_length);
  return result;
}

void BatchSharding::pad_extra(Batch& result, int64_t sequence_length, int64_t padded_length) const {
  for (const auto& [key, axis] : options_.extra_sequence_keys) {
    const auto found = result.find(key);
    if (found == result.end() && rules_.requires_extra_keys) {
      throw_missing_key(key);
    }
    if (found != result.end() && !is_known(key)) {
      check_length(key, found->second, axis, sequence_length);
      const auto value = options_.extra_pad_values.find(key);
      found->second = pad_right(found->second, axis, padded_length, value == options_.extra_pad_values.end() ? 0 : value->second);
    }
  }
}

std::map<std::string, int64_t> BatchSharding::sequence_axes(const Batch& batch) const {
  const std::string primary = primary_key(batch);
  std::map<std::string, int64_t> axes = {{"position_ids", position_axis(batch.at("position_ids"))}};
  if (options_.shard_primary) {
    axes[primary] = 1;
  }
  for (const KnownKey& known : kKnownKeys) {
    if (batch.count(known.name) > 0 && primary != known.name) {
      axes[known.name] = 1;
    }
  }
  for (const auto& [key, axis] : options_.extra_sequence_keys) {
    if (batch.count(key) > 0 && !is_known(key)) {
      axes[key] = axis;
    }
  }
  return axes;
}

}  // namespace ringwright::worker

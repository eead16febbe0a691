#include "daemon/worker/context_parallel/local_mask.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <span>

#include "daemon/worker/context_parallel/shard_errors.h"
#include "shared/layout/local_mask.h"

namespace ringwright::worker {
namespace {

void check_arguments(const GlobalTokens& tokens, int cp, int rank, std::optional<int64_t> window) {
  const at::Tensor& positions = tokens.position_ids_BK;
  if (positions.dim() != 2 || cp < 1 || positions.size(1) % cp != 0) {
    throw_bad_argument(fmt::format("position_ids of shape [{}] for cp = {}", fmt::join(positions.sizes(), ", "), cp),
                       "rows of a length divisible by cp");
  }
  if (rank < 0 || rank >= cp) {
    throw_bad_argument(fmt::format("rank {} of cp = {}", rank, cp), "a rank inside the group");
  }
  if (window && *window < 1) {
    throw_bad_argument(fmt::format("a window of {} tokens", *window), "at least 1");
  }
  for (const at::Tensor& other : {tokens.packed_seq_ids_BK, tokens.padding_mask_BK}) {
    if (other.defined() && other.sizes() != positions.sizes()) {
      throw_bad_argument(
          fmt::format("tokens of shape [{}] beside positions of [{}]", fmt::join(other.sizes(), ", "), fmt::join(positions.sizes(), ", ")),
          "one shape: [B, K]");
    }
  }
}

at::Tensor on_host(const at::Tensor& tensor, at::ScalarType type) { return tensor.to(at::kCPU, type).contiguous(); }

template <typename T>
std::span<const T> row_of(const at::Tensor& tensor_BK, int64_t row) {
  const auto length = static_cast<size_t>(tensor_BK.size(1));
  return {tensor_BK.const_data_ptr<T>() + static_cast<size_t>(row) * length, length};
}

}  // namespace

at::Tensor local_mask(const GlobalTokens& tokens, int cp, int rank, std::optional<int64_t> window) {
  check_arguments(tokens, cp, rank, window);
  const int64_t rows = tokens.position_ids_BK.size(0), keys = tokens.position_ids_BK.size(1), queries = keys / cp;
  const layout::LocalQueries local = {.query_start = rank * queries, .query_length = queries, .window = window.value_or(0)};
  const bool packed = tokens.packed_seq_ids_BK.defined();
  const at::Tensor positions = on_host(tokens.position_ids_BK, at::kLong);
  const at::Tensor documents = packed ? on_host(tokens.packed_seq_ids_BK, at::kLong) : at::Tensor();
  const at::Tensor padding = tokens.padding_mask_BK.defined() ? on_host(tokens.padding_mask_BK, at::kByte) : at::zeros({rows, keys}, at::kByte);
  std::vector<at::Tensor> visible;
  for (int64_t row = 0; row < rows; ++row) {
    const auto row_positions = row_of<int64_t>(positions, row);
    const auto row_padding = row_of<uint8_t>(padding, row);
    const std::vector<uint8_t> mask = packed ? layout::packed_local_mask(row_of<int64_t>(documents, row), row_positions, row_padding, local)
                                             : layout::plain_local_mask(row_positions, row_padding, local);
    visible.push_back(at::tensor(mask, at::kByte).to(at::kBool).reshape({1, queries, keys}));
  }
  return at::stack(visible).to(tokens.position_ids_BK.device());
}

at::Tensor additive_mask(const at::Tensor& visible, at::ScalarType type) {
  double lowest = 0;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "additive_mask", [&] { lowest = std::numeric_limits<scalar_t>::lowest(); });
  return at::zeros(visible.sizes(), visible.options().dtype(type)).masked_fill_(visible.logical_not(), lowest);
}

}  // namespace ringwright::worker

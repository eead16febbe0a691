#include <ATen/ATen.h>
#include <fmt/format.h>

#include "daemon/worker/context_parallel/mamba_exchange.h"
#include "tests/daemon/worker/support/rank_threads.h"
#include "tests/golden/cp_tensors/case_values.h"
#include "tests/golden/cp_tensors/checks.h"

namespace ringwright::golden {
namespace {

using nlohmann::json;

layout::MambaShape shape_of(const json& params) {
  return {.heads = integer(params, "num_heads", 1),
          .head_size = integer(params, "head_dim", 1),
          .groups = integer(params, "n_groups", 1),
          .state = integer(params, "d_state", 1)};
}

at::Tensor arange_like(const std::vector<int64_t>& shape) { return at::arange(c10::multiply_integers(shape), at::kFloat).reshape(shape); }

const json& of_rank(const json& golden, int rank) { return golden["expect"]["per_rank"][static_cast<size_t>(rank)]; }

void exchange_on_rank(const json& golden, const worker::ProcessGroup& group) {
  const json& params = golden["params"];
  const json& want = of_rank(golden, group.rank);
  std::vector<int64_t> shape = {integer(params, "L_local", 0), integer(params, "H", 0)};
  if (!params["B"].is_null()) shape.insert(shape.begin(), integer(params, "B", 1));
  const at::Tensor input = (arange_like(shape) + group.rank * c10::multiply_integers(shape)).requires_grad_();
  const at::Tensor output = worker::context_to_hidden_parallel(input, group);
  expect_tensor("output", output, want["output"]);
  if (!at::equal(worker::hidden_to_context_parallel(output.detach(), group), input.detach())) throw Mismatch("hp2cp does not invert cp2hp");
  if (want.contains("grad_input")) {
    (output * counting_weights(output) * (group.rank + 1)).sum().backward();
    expect_tensor("grad_input", input.grad(), want["grad_input"]);
  }
}

// How the case's tokens lie on the ranks; length: of the whole sequence.
std::shared_ptr<const layout::Layout> layout_of(const json& params, int cp) {
  if (params["mode"] == "bshd") return layout::make_layout("round_robin", cp);
  return layout::make_layout("thd", cp, {.document_offsets = params["cu_seqlens"].get<std::vector<int64_t>>()});
}

void pre_post_on_rank(const json& golden, const worker::ProcessGroup& group) {
  const json& params = golden["params"];
  const json& want = of_rank(golden, group.rank);
  const layout::MambaShape shape = shape_of(params);
  const int64_t inner = shape.heads * shape.head_size, channels = 2 * (inner + shape.groups * shape.state) + shape.heads;
  auto global_shape = want["pre"]["shape"].get<std::vector<int64_t>>();  // [B, P, ...] or [P, ...]
  global_shape.back() = channels;
  const std::shared_ptr<const layout::Layout> layout = layout_of(params, group.size);
  const int64_t length = global_shape[global_shape.size() - 2];
  const at::Tensor indices = at::tensor(layout->local_token_global_indices(length, group.rank), at::kLong);
  const at::Tensor local = arange_like(global_shape).index_select(-2, indices).requires_grad_();
  const worker::MambaExchange exchange(shape, layout, group);
  const at::Tensor pre = exchange.pre(local);
  expect_tensor("pre", pre, want["pre"]);
  const int64_t inner_local = inner / group.size;
  expect_tensor("post", exchange.post(pre.detach().narrow(-1, inner_local, inner_local)), want["post"]);
  (pre * (group.rank + 1)).sum().backward();
  expect_tensor("grad_local", local.grad(), want["grad_local"]);
}

void slices_of_rank(const json& golden, int rank, int cp) {
  const layout::MambaShape shape = shape_of(golden["params"]);
  const worker::MambaParameters parameters(shape, cp, rank);
  const layout::MambaShare share = layout::mamba_share(shape, cp);
  const json& want = of_rank(golden, rank);
  expect_equal("num_heads_local", share.heads, want["num_heads_local"]);
  expect_equal("d_inner_local", share.inner_width, want["d_inner_local"]);
  expect_equal("n_groups_local", share.groups, want["n_groups_local"]);
  expect_equal("group_repeat_count", share.group_repeat, want["group_repeat_count"]);
  const int64_t channels = shape.heads * shape.head_size + 2 * shape.groups * shape.state;
  const at::Tensor bias = parameters.convolution(at::arange(channels));
  expect_equal("conv_channels", std::vector<int64_t>(bias.const_data_ptr<int64_t>(), bias.const_data_ptr<int64_t>() + bias.numel()),
               want["conv_channels"]);
  const at::Tensor weight =
      parameters.convolution(at::arange(channels).reshape({channels, 1, 1}).expand({channels, 1, want["conv_weight_shape"][1]}));
  expect_equal("conv_weight_shape", weight.sizes().vec(), want["conv_weight_shape"]);
  if (!at::equal(weight.select(1, 0), bias)) throw Mismatch("weight and bias have other channels");
  expect_equal("no bias", parameters.convolution({}).defined(), false);
  const at::Tensor heads = at::arange(shape.heads, at::kFloat);
  expect_tensor("dt_bias", parameters.per_head(heads), want["dt_bias"]);
  expect_tensor("A_log", parameters.per_head(heads + 100), want["A_log"]);
  const layout::ChannelRange range = layout::mamba_slices(shape, cp, rank).heads;
  expect_equal("head_range", json::array({range.start, range.start + range.length}), want["head_range"]);
}

// What the contract asks for where upstream's value is an accident.
at::Tensor sequence_index_by_contract(const json& golden, int cp) {
  const auto local_shape = golden["params"]["local_shape"].get<std::vector<int64_t>>();
  if (local_shape.size() == 2) return at::zeros({local_shape[0], local_shape[1] * cp}, at::kInt);
  const auto offsets = golden["input"]["cu_seqlens_padded"].get<std::vector<int64_t>>();
  const at::Tensor index = at::zeros({1, local_shape[0] * cp}, at::kInt);
  for (size_t k = 1; k < offsets.size(); ++k) index.slice(1, offsets[k]).add_(1);
  return index;
}

}  // namespace

void check_mamba_exchange(const json& golden) {
  test::run_on_threads(golden["params"]["cp"].get<int>(), [&](const worker::ProcessGroups& ranks) { exchange_on_rank(golden, ranks.group("cp")); });
}

void check_mamba_pre_post(const json& golden) {
  test::run_on_threads(golden["params"]["cp"].get<int>(), [&](const worker::ProcessGroups& ranks) { pre_post_on_rank(golden, ranks.group("cp")); });
}

void check_mamba_slices(const json& golden) {
  const int cp = golden["params"]["cp"].get<int>();
  if (golden["expect"].contains("error")) {
    return expect_error(golden["expect"]["error"], [&] { worker::MambaParameters(shape_of(golden["params"]), cp, 0); });
  }
  for (int rank = 0; rank < cp; ++rank) slices_of_rank(golden, rank, cp);
}

void check_mamba_group_repeat(const json& golden) {
  const json& params = golden["params"];
  const int cp = params["cp"].get<int>();
  const at::Tensor state = tensor_of(golden["input"]["state"]);
  layout::MambaShape shape = shape_of(params);
  shape.heads = cp;
  expect_tensor("bshd", worker::repeat_groups(state, shape, cp), golden["expect"]["bshd"]);
  expect_tensor("thd", worker::repeat_groups(state[0], shape, cp), golden["expect"]["thd"]);
}

void check_mamba_slice_gradient(const json& golden) {
  const json& params = golden["params"];
  const int cp = params["cp"].get<int>();
  const layout::MambaShape shape = shape_of(params);
  for (int rank = 0; rank < cp; ++rank) {
    const at::Tensor bias = at::ones({shape.heads * shape.head_size + 2 * shape.groups * shape.state}, at::kFloat).requires_grad_();
    worker::MambaParameters(shape, cp, rank).convolution(bias).sum().backward();
    expect_tensor(fmt::format("rank {}", rank), bias.grad(), golden["expect"]["per_rank_grad"][static_cast<size_t>(rank)]);
  }
}

void check_sequence_index(const json& golden) {
  const json& params = golden["params"];
  const int cp = params["cp"].get<int>();
  const auto local_shape = params["local_shape"].get<std::vector<int64_t>>();
  const auto offsets = [&](const char* key) {
    const json& value = golden["input"][key];
    return value.is_null() ? at::Tensor() : at::tensor(value.get<std::vector<int64_t>>(), at::kLong).to(at::kInt);
  };
  const worker::MambaDocuments documents = {{}, offsets("cu_seqlens"), offsets("cu_seqlens_padded")};
  const bool rows = params["layout"] == "bshd";
  const at::Tensor index =
      worker::mamba_sequence_index(documents, rows ? std::optional<int64_t>(local_shape.front()) : std::nullopt, local_shape.back(), cp);
  if (golden.contains("quirk")) {
    if (!index.equal(sequence_index_by_contract(golden, cp))) throw Mismatch("other than the contract's");
    return;
  }
  for (int rank = 0; rank < cp; ++rank) {
    const json& want = of_rank(golden, rank);
    expect_tensor("seq_idx", index, want["seq_idx"]);
    expect_equal("kernel_length", local_shape.back() * cp, want["kernel_length"]);
  }
}

}  // namespace ringwright::golden

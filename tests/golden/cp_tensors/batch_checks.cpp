#include <ATen/ATen.h>
#include <fmt/format.h>

#include "daemon/worker/context_parallel/deepseek_v4_strategy.h"
#include "daemon/worker/context_parallel/local_mask.h"
#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/sharder.h"
#include "daemon/worker/context_parallel/stream_strategies.h"
#include "tests/golden/cp_tensors/case_values.h"
#include "tests/golden/cp_tensors/checks.h"

namespace ringwright::golden {
namespace {

using nlohmann::json;
using worker::Batch;
using worker::StrategyPointer;

worker::BatchOptions batch_options(const json& params) {
  worker::BatchOptions options;
  options.padding_token_id = integer(params, "padding_token_id", 0);
  options.shard_primary = params.value("shard_primary", true);
  for (const char* key : {"extra_seq_buffers", "extra_seq_keys"}) {
    if (params.contains(key) && !params[key].is_null()) options.extra_sequence_keys = params[key].get<std::map<std::string, int64_t>>();
  }
  if (params.contains("extra_pad_values") && !params["extra_pad_values"].is_null()) {
    options.extra_pad_values = params["extra_pad_values"].get<std::map<std::string, double>>();
  }
  return options;
}

void expect_unchanged(const Batch& batch, const Batch& before) {
  expect_equal("values of the batch handed in", batch.values == before.values, true);
  expect_equal("keys of the batch handed in", batch.size(), before.size());
  for (const auto& [key, tensor] : before) {
    const at::Tensor& now = batch.at(key);
    if (!now.is_same(tensor)) throw Mismatch(fmt::format("the batch handed in has another \"{}\"", key));
  }
}

// Clones, so that a write into the batch handed in shows.
void expect_same_data(const Batch& batch, const json& input) {
  for (const auto& [key, tensor] : batch_of(input)) {
    if (tensor.defined() && !at::equal(batch.at(key).detach(), tensor)) throw Mismatch(fmt::format("\"{}\" was written to", key));
  }
}

void check_rank(const json& golden, const StrategyPointer& strategy, int rank, int cp) {
  const json& want = golden["expect"]["per_rank"][static_cast<size_t>(rank)];
  const Batch batch = batch_of(golden["input"]);
  const bool differentiates = want.contains("grad_inputs_embeds");
  if (differentiates) batch.at("inputs_embeds").requires_grad_();
  const Batch before = batch;
  worker::Sharder sharder(strategy, lone_member(rank, cp));
  Batch local = sharder.shard(batch);
  expect_unchanged(batch, before);
  expect_same_data(batch, golden["input"]);
  expect_facts(sharder.facts(), want["layout"]);
  if (want.contains("loss_mask") && !want["loss_mask"].is_null()) {
    expect_tensor("loss_mask", local.at("loss_mask"), want["loss_mask"]);
    local.erase("loss_mask");
  }
  if (want.contains("indices") && !want["indices"].is_null()) {
    expect_tensor("indices", sharder.local_token_global_indices(sharder.facts().padded_length.value()), want["indices"]);
  }
  expect_batch(local, want["batch"]);
  if (differentiates) {
    const at::Tensor& part = local.at("inputs_embeds");
    (part * counting_weights(part)).sum().backward();
    expect_tensor("gradient", batch.at("inputs_embeds").grad(), want["grad_inputs_embeds"]);
  }
}

// Every rank of the case, or its refusal.
void check_batch(const json& golden, const std::function<StrategyPointer(int cp)>& make) {
  const int cp = golden["params"]["cp"].get<int>();
  const json& expect = golden["expect"];
  if (expect.contains("error")) {
    return expect_error(expect["error"], [&] { worker::Sharder(make(cp), lone_member(0, cp)).shard(batch_of(golden["input"])); });
  }
  expect_equal("ranks", cp, expect["per_rank"].size());
  for (int rank = 0; rank < cp; ++rank) check_rank(golden, make(cp), rank, cp);
}

void check_mask(const json& golden, bool packed) {
  const json& params = golden["params"];
  const int cp = params["cp"].get<int>();
  worker::GlobalTokens tokens;
  tokens.position_ids_BK = tensor_of(golden["input"]["position_ids"]);
  if (packed) tokens.packed_seq_ids_BK = tensor_of(golden["input"]["packed_seq_ids"]);
  if (golden["input"].contains("padding_mask")) tokens.padding_mask_BK = tensor_of(golden["input"]["padding_mask"]);
  const std::optional<double> window = number(params, "sliding_window");
  for (int rank = 0; rank < cp; ++rank) {
    const json& want = golden["expect"]["per_rank"][static_cast<size_t>(rank)];
    const at::Tensor visible = worker::local_mask(tokens, cp, rank, window ? std::optional<int64_t>(static_cast<int64_t>(*window)) : std::nullopt);
    expect_tensor(fmt::format("rank {}", rank), visible, want["allowed"]);
    const at::Tensor additive = worker::additive_mask(visible, at::kBFloat16);
    const double lowest = static_cast<double>(std::numeric_limits<c10::BFloat16>::lowest());
    if (!at::equal(additive == 0, visible) || !at::equal(additive == lowest, visible.logical_not())) throw Mismatch("additive form");
  }
}

}  // namespace

void check_round_robin(const json& golden) {
  check_batch(golden, [&](int cp) {
    return cp == 1 ? worker::make_identity_strategy() : worker::make_round_robin_strategy(cp, batch_options(golden["params"]));
  });
}

void check_contiguous(const json& golden) {
  const json& params = golden["params"];
  check_batch(golden, [&](int cp) { return worker::make_contiguous_strategy(cp, integer(params, "pad_multiple", 1), batch_options(params)); });
}

void check_attention_mask(const json& golden) {
  const at::Tensor mask = tensor_of(golden["input"]["batch"]["attention_mask"]);
  expect_tensor("padding_mask", worker::padding_mask_from_attention_mask(mask), golden["expect"]["batch"]["padding_mask"]);
}

void check_gemma4(const json& golden) {
  check_batch(golden, [&](int cp) { return worker::make_gemma4_strategy(cp, batch_options(golden["params"])); });
}

void check_in_model_cut(const json& golden) {
  const json& params = golden["params"];
  const int cp = params["cp"].get<int>();
  const auto layout = layout::make_layout(params["layout"].get<std::string>(), cp, {.pad_multiple = integer(params, "pad_multiple", 1)});
  for (int rank = 0; rank < cp; ++rank) {
    const json& want = golden["expect"]["per_rank"][static_cast<size_t>(rank)];
    const at::Tensor full = tensor_of(golden["input"]["tensor"]).requires_grad_();
    const worker::InModelCut cut = worker::cut_in_model(full, integer(params, "seq_dim", 1), number(params, "pad_value").value_or(0), *layout, rank);
    expect_tensor("local", cut.local, want["local"]);
    expect_tensor("indices", cut.global_indices, want["indices"]);
    expect_equal("padded_seq_len", cut.padded_length, want["padded_seq_len"]);
    (cut.local * counting_weights(cut.local)).sum().backward();
    expect_tensor("gradient", full.grad(), want["grad_input"]);
  }
}

void check_deepseek_v4(const json& golden) {
  const json& params = golden["params"];
  check_batch(golden, [&](int cp) {
    return worker::make_deepseek_v4_strategy(cp, {.batch = batch_options(params), .pad_multiple = integer(params, "pad_multiple", 1)});
  });
}

void check_thd_convert(const json& golden) {
  const json& params = golden["params"];
  const worker::StreamOptions options = {.padding_token_id = integer(params, "padding_token_id", 0),
                                         .filler = integer(params, "seq_lens_padding_value", worker::kNoDocument),
                                         .num_chunks = integer(params, "num_chunks", 1)};
  const Batch batch = batch_of(golden["input"]);
  if (golden["expect"].contains("error")) return expect_error(golden["expect"]["error"], [&] { worker::rows_to_stream(batch, options); });
  expect_batch(worker::rows_to_stream(batch, options), golden["expect"]["batch"]);
  expect_same_data(batch, golden["input"]);
}

void check_thd(const json& golden) {
  const json& params = golden["params"];
  check_batch(golden, [&](int) {
    return worker::make_thd_strategy({.padding_token_id = integer(params, "padding_token_id", 0), .num_chunks = integer(params, "num_chunks", 1)});
  });
}

void check_glm(const json& golden) {
  const json& params = golden["params"];
  check_batch(golden, [&](int cp) {
    return worker::make_glm_strategy(cp,
                                     {.padding_token_id = integer(params, "padding_token_id", 0), .num_chunks = integer(params, "num_chunks", 1)});
  });
}

void check_packed_mask(const json& golden) { check_mask(golden, true); }
void check_plain_mask(const json& golden) { check_mask(golden, false); }

}  // namespace ringwright::golden

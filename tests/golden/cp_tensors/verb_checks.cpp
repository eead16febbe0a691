#include <ATen/ATen.h>

#include "daemon/worker/context_parallel/deepseek_v4_strategy.h"
#include "daemon/worker/context_parallel/row_strategies.h"
#include "daemon/worker/context_parallel/sharder.h"
#include "daemon/worker/context_parallel/stream_strategies.h"
#include "tests/daemon/worker/support/rank_threads.h"
#include "tests/golden/cp_tensors/case_values.h"
#include "tests/golden/cp_tensors/checks.h"

namespace ringwright::golden {
namespace {

using nlohmann::json;
using worker::Sharder;
using worker::StrategyPointer;

StrategyPointer closed_form_strategy(const json& form, int cp) {
  if (form.is_null()) return worker::make_dispatch_strategy({});
  if (form == "identity") return worker::make_identity_strategy();
  return worker::make_row_strategy(layout::make_layout(form.get<std::string>(), cp), worker::kContiguousRules, {});
}

Sharder sharder_of(const json& golden, int rank) {
  const json& params = golden["params"];
  const int cp = std::max(1, params["cp"].get<int>());
  return Sharder(closed_form_strategy(params["closed_form"], cp), lone_member(rank, cp), facts_of(golden["input"]["layout"]));
}

StrategyPointer backend_strategy(const json& params, int cp) {
  worker::BatchOptions batch;
  batch.padding_token_id = integer(params, "padding_token_id", 0);
  const int64_t pad_multiple = integer(params, "pad_multiple", 1);
  const worker::StreamOptions stream = {.padding_token_id = batch.padding_token_id};
  const std::map<std::string, std::function<StrategyPointer()>> backends = {
      {"none", [] { return worker::make_identity_strategy(); }},
      {"round_robin", [&] { return worker::make_round_robin_strategy(cp, batch); }},
      {"contiguous", [&] { return worker::make_contiguous_strategy(cp, pad_multiple, batch); }},
      {"gemma4", [&] { return worker::make_gemma4_strategy(cp, batch); }},
      {"dsv4", [&] { return worker::make_deepseek_v4_strategy(cp, {.batch = batch, .pad_multiple = pad_multiple}); }},
      {"glm", [&] { return worker::make_glm_strategy(cp, stream); }},
      {"thd", [&] { return worker::make_thd_strategy(stream); }},
  };
  const std::string name = params["backend"];
  if (backends.count(name) == 0) throw Mismatch("a backend that this program does not know: " + name);
  return backends.at(name)();
}

// One rank of a round trip over a real group: cut, gather, gather trimmed, backward.
void round_trip(const json& golden, const json& want, const worker::ProcessGroup& group) {
  const json& params = golden["params"];
  const std::optional<double> fill = number(params, "fill");
  const int64_t axis = integer(params, "gather_seq_dim", 1);
  Sharder sharder(backend_strategy(params, group.size), group);
  const worker::Batch batch = sharder.shard(batch_of(golden["input"]));
  if (want.contains("layout")) expect_facts(sharder.facts(), want["layout"]);
  if (want.contains("batch") && !want["batch"].is_null()) expect_batch(batch, want["batch"]);
  const at::Tensor local = sharder.shard_token_tensor(tensor_of(golden["input"]["tensor"]), 1, fill).detach();
  expect_tensor("local", local, want["local"]);
  const bool differentiates = want.contains("grad_local");
  local.requires_grad_(differentiates);
  if (want.contains("gathered_untrimmed")) {
    expect_tensor("gathered_untrimmed", sharder.gather_token_tensor(local.detach(), axis), want["gathered_untrimmed"]);
  }
  const at::Tensor trimmed = sharder.gather_token_tensor(local, axis, true, fill);
  expect_tensor("gathered_trimmed", trimmed, want["gathered_trimmed"]);
  if (differentiates) {
    (trimmed * counting_weights(trimmed) * (group.rank + 1)).sum().backward();
    expect_tensor("grad_local", local.grad(), want["grad_local"]);
  }
}

}  // namespace

void check_shard_token_tensor(const json& golden) {
  const json& params = golden["params"];
  const int64_t axis = integer(params, "seq_dim", 1);
  const std::optional<double> fill = number(params, "fill");
  if (golden.contains("quirk")) {  // the contract refuses what upstream cuts at the wrong places
    return expect_error({{"class", "ValueError"}},
                        [&] { sharder_of(golden, 0).shard_token_tensor(tensor_of(golden["input"]["tensor"]), axis, fill); });
  }
  const json& expect = golden["expect"];
  const size_t ranks = expect.contains("per_rank") ? expect["per_rank"].size() : 1;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const json& want = expect.contains("per_rank") ? expect["per_rank"][rank] : expect;
    const at::Tensor full = tensor_of(golden["input"]["tensor"]);
    full.requires_grad_(want.contains("grad_tensor"));
    const Sharder sharder = sharder_of(golden, static_cast<int>(rank));
    if (want.contains("error")) {
      expect_error(want["error"], [&] { sharder.shard_token_tensor(full, axis, fill); });
      continue;
    }
    const at::Tensor local = sharder.shard_token_tensor(full, axis, fill);
    expect_tensor("local", local, want["local"]);
    expect_equal("contiguous", local.is_contiguous(), true);
    if (want.contains("grad_tensor")) {
      (local * counting_weights(local)).sum().backward();
      expect_tensor("grad_tensor", full.grad(), want["grad_tensor"]);
    }
  }
}

void check_gather_without_group(const json& golden) {
  const json& params = golden["params"];
  const auto gather = [&] {
    return sharder_of(golden, 0).gather_token_tensor(tensor_of(golden["input"]["tensor"]), integer(params, "seq_dim", 1), params.value("trim", false),
                                                     number(params, "fill"));
  };
  if (golden["expect"].contains("error")) return expect_error(golden["expect"]["error"], gather);
  expect_tensor("full", gather(), golden["expect"]["full"]);
}

void check_round_trip(const json& golden) {
  const json& per_rank = golden["expect"]["per_rank"];
  test::run_on_threads(golden["params"]["cp"].get<int>(), [&](const worker::ProcessGroups& ranks) {
    const worker::ProcessGroup& cp = ranks.group("cp");
    round_trip(golden, per_rank[static_cast<size_t>(cp.rank)], cp);
  });
}

// per_rank is indexed by global rank; the CP groups are those of a mesh with data parallelism over the rest.
void check_subgroups(const json& golden) {
  const json& per_rank = golden["expect"]["per_rank"];
  mesh::ParallelismSizes sizes;
  sizes.cp = golden["params"]["cp"].get<int>();
  test::run_on_threads(
      static_cast<int>(per_rank.size()),
      [&](const worker::ProcessGroups& ranks) { round_trip(golden, per_rank[static_cast<size_t>(ranks.rank())], ranks.group("cp")); }, sizes);
}

void check_magi_install(const json& golden) {
  const json& params = golden["params"];
  const int cp = params["cp"].get<int>();
  const auto shape = params["row_shape"].get<std::vector<int64_t>>();
  const auto positions = golden["input"]["dispatch_positions_per_rank"].get<std::vector<std::vector<int64_t>>>();
  const std::shared_ptr<const layout::Layout> layout = layout::install_permutation(positions);
  const at::Tensor tensor = at::arange(shape[1]).unsqueeze(0) + 1000 * at::arange(shape[0]).unsqueeze(1);
  for (int rank = 0; rank < cp; ++rank) {
    const json& want = golden["expect"]["per_rank"][static_cast<size_t>(rank)];
    const StrategyPointer strategy = worker::make_dispatch_strategy({.label = "magi", .magi_rules = true});
    expect_error({{"class", want["verb_error_before_shard"]}}, [&] { Sharder(strategy, lone_member(rank, cp)).shard_token_tensor(tensor, 1, -1); });
    const Sharder sharder(strategy, lone_member(rank, cp), worker::stream_facts(layout, shape[0], shape[1], rank));
    expect_facts(sharder.facts(), want["layout"]);
    const json& shard = want["shard_fill_minus1"];
    if (shard.contains("error")) {
      expect_error(shard["error"], [&] { sharder.shard_token_tensor(tensor, 1, -1); });
    } else {
      expect_tensor("shard", sharder.shard_token_tensor(tensor, 1, -1), shard);
    }
  }
}

}  // namespace ringwright::golden

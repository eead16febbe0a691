#include <ATen/ATen.h>

#include "daemon/worker/context_parallel/resolution.h"
#include "daemon/worker/context_parallel/row_strategies.h"
#include "tests/golden/cp_tensors/case_values.h"
#include "tests/golden/cp_tensors/checks.h"

namespace ringwright::golden {
namespace {

using nlohmann::json;

// What a model's hook returns; a name of its own shows who won.
class ModelOwned final : public worker::ShardStrategy {
 public:
  explicit ModelOwned(int cp) : contiguous_(worker::make_contiguous_strategy(cp, 1, {})) {}
  std::string_view label() const override { return "model_owned"; }
  std::shared_ptr<const layout::Layout> closed_form() const override { return contiguous_->closed_form(); }
  worker::ShardedBatch shard(const worker::Batch& batch, const worker::ProcessGroup& group) const override {
    return contiguous_->shard(batch, group);
  }

 private:
  worker::StrategyPointer contiguous_;
};

worker::Batch small_batch(bool thd) {
  worker::Batch batch = {{"input_ids", at::arange(8).reshape({1, 8})}, {"labels", at::arange(8).reshape({1, 8})}};
  if (thd) batch.values["qkv_format"] = "thd";
  return batch;
}

worker::AttentionBackend attention_of(const json& name) {
  using enum worker::AttentionBackend;
  static const std::map<std::string, worker::AttentionBackend> backends = {
      {"sdpa", other}, {"te", te}, {"te_injected", te_injected}, {"magi_custom", magi_custom}, {"magi_hf", magi_hf}};
  return name.is_null() ? other : backends.at(name.get<std::string>());
}

}  // namespace

void check_resolve(const json& golden) {
  const json& params = golden["params"];
  const worker::ProcessGroup group = lone_member(0, static_cast<int>(integer(params, "cp", 1)));
  const worker::Batch batch = small_batch(params["batch_is_thd"].get<bool>());
  bool hook_called = false;
  worker::ShardedModel model;
  model.attention = attention_of(params["attn"]);
  model.supports_thd = params["supports_thd"].get<bool>();
  model.multimodal = params["multimodal"].get<bool>();
  if (!params["hook"].is_null()) {
    model.hook = [&](worker::Batch, const worker::HookRequest& request) -> worker::HookResult {
      hook_called = true;
      if (params["hook"] != "sharder") return {};
      return {std::make_shared<ModelOwned>(request.group.size), {}, {}};
    };
  }
  worker::ShardRequest request;
  request.batch = &batch;
  if (params["model_present"].get<bool>()) request.model = &model;
  request.invoke_hook = params["invoke_pre_embed"].get<bool>();
  if (params["extra_seq_buffers"].get<bool>()) request.extra_seq_buffers = std::map<std::string, int64_t>{{"extra", 1}};
  const json& expect = golden["expect"];
  if (expect.contains("error")) return expect_error(expect["error"], [&] { worker::resolve_sharder(request, group); });
  const worker::Resolution resolution = worker::resolve_sharder(request, group);
  expect_equal("backend", std::string(resolution.sharder.label()), expect["backend"]);
  expect_equal("hook_called", hook_called, expect["hook_called"]);
  expect_equal("hook_called as told", resolution.hook_called, expect["hook_called"]);
  expect_equal("has_closed_form", resolution.sharder.has_closed_form(), expect["has_closed_form"]);
}

void check_construct(const json& golden) {
  const std::string what = golden["params"]["what"];
  const worker::Batch batch = small_batch(false);
  worker::ShardRequest request;
  if (what == "strategy_plus_batch") {
    request.strategy = worker::make_identity_strategy();
    request.batch = &batch;
  } else if (what == "indices_without_strategy") {
    request.local_token_global_indices = at::arange(4);
  } else if (what != "batch_missing") {
    throw Mismatch("a combination that this program does not know: " + what);
  }
  expect_error(golden["expect"]["error"], [&] { worker::resolve_sharder(request, lone_member(0, 1)); });
}

}  // namespace ringwright::golden

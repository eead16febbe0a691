// What resolution does with a hook's answer and with combinations that make no sense; who wins is in the goldens (golden_cp, "resolve").
#include "daemon/worker/context_parallel/resolution.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "daemon/worker/context_parallel/row_strategies.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/context_parallel/shard_support.h"

namespace ringwright::worker {
namespace {

using testing::HasSubstr;

Batch small_batch() { return {{"input_ids", row({1, 2, 3, 4})}, {"labels", row({2, 3, 4, -100})}}; }

Resolution resolve(const Batch& batch, const ShardedModel& model, int cp) {
  ShardRequest request;
  request.batch = &batch;
  request.model = &model;
  return resolve_sharder(request, member(0, cp));
}

TEST(Resolution, AHookWorksOnACopyAndItsAnswerIsMerged) {
  Batch batch = small_batch();
  batch["pixels"] = row({9});
  batch["raw"] = row({8});
  batch["kept"] = row({7});
  ShardedModel model;
  model.hook = [](Batch own, const HookRequest& request) -> HookResult {
    own.erase("labels");
    EXPECT_EQ(request.num_chunks, 1);
    return {
        make_contiguous_strategy(request.group.size, 1, {}), {{"pixels", at::Tensor()}, {"kept", row({70})}, {"more", row({6})}}, {"raw", "kept"}};
  };
  const Resolution resolution = resolve(batch, model, 2);
  EXPECT_TRUE(resolution.hook_called);
  EXPECT_EQ(resolution.sharder.label(), "contiguous");
  EXPECT_EQ(batch.size(), 5u);
  EXPECT_EQ(resolution.batch.count("pixels"), 0u);             // returned without a value
  EXPECT_EQ(resolution.batch.count("raw"), 0u);                // consumed
  EXPECT_EQ(longs(resolution.batch.at("kept")), (Longs{70}));  // consumed and returned
  EXPECT_EQ(longs(resolution.batch.at("more")), (Longs{6}));
  EXPECT_EQ(resolution.batch.count("labels"), 1u);
}

TEST(Resolution, AHookWithoutAStrategyFallsThroughAndItsAnswerStays) {
  const Batch batch = small_batch();
  ShardedModel model;
  model.hook = [](Batch, const HookRequest&) -> HookResult {
    return {nullptr, {{"inputs_embeds", at::zeros({1, 4, 2})}, {"input_ids", at::Tensor()}}, {}};
  };
  Resolution resolution = resolve(batch, model, 2);
  EXPECT_EQ(resolution.sharder.label(), "round_robin");
  EXPECT_EQ(resolution.sharder.shard(resolution.batch).at("inputs_embeds").size(1), 2);
}

TEST(Resolution, AGivenStrategyTakesItsFactsAndMap) {
  ShardRequest request;
  request.strategy = make_round_robin_strategy(2, {});
  request.local_token_global_indices = at::tensor({3, 0}, at::kInt);
  const Resolution resolution = resolve_sharder(request, member(1, 2));
  EXPECT_EQ(longs(resolution.sharder.shard_token_tensor(row({5, 6, 7, 8}))), (Longs{8, 5}));
}

TEST(Resolution, RefusesWhatExcludesEachOther) {
  const Batch batch = small_batch();
  const ShardedModel model;
  const auto refused = [](const std::function<void(ShardRequest&)>& set) {
    ShardRequest request;
    set(request);
    return error_code([&] { resolve_sharder(request, member(0, 2)); });
  };
  const StrategyPointer strategy = make_round_robin_strategy(2, {});
  EXPECT_EQ(refused([](ShardRequest&) {}), "RW-SHARD-004");
  EXPECT_EQ(refused([&](ShardRequest& r) { r.model = &model; }), "RW-SHARD-004");
  EXPECT_EQ(refused([&](ShardRequest& r) {
              r.facts = ShardFacts{};
              r.batch = &batch;
            }),
            "RW-SHARD-004");
  EXPECT_EQ(refused([&](ShardRequest& r) {
              r.strategy = strategy;
              r.batch = &batch;
            }),
            "RW-SHARD-004");
  EXPECT_EQ(refused([&](ShardRequest& r) {
              r.strategy = strategy;
              r.model = &model;
            }),
            "RW-SHARD-004");
  EXPECT_EQ(refused([&](ShardRequest& r) {
              r.strategy = strategy;
              r.num_chunks = 1;
            }),
            "RW-SHARD-004");
  EXPECT_EQ(refused([&](ShardRequest& r) {
              r.strategy = strategy;
              r.invoke_hook = false;
            }),
            "RW-SHARD-004");
  EXPECT_EQ(refused([&](ShardRequest& r) {
              r.strategy = strategy;
              r.extra_seq_buffers.emplace();
            }),
            "RW-SHARD-004");
  EXPECT_EQ(refused([&](ShardRequest& r) { r.strategy = make_round_robin_strategy(4, {}); }), "RW-SHARD-004");  // the group has 2 ranks
}

// Before a hook runs, so also where the model would have cut the batch itself.
TEST(Resolution, ExtraBuffersBesideAStreamAreRefusedFirst) {
  Batch batch = small_batch();
  batch.values["qkv_format"] = "thd";
  bool called = false;
  ShardedModel model;
  model.attention = AttentionBackend::te;
  model.supports_thd = true;
  model.hook = [&](Batch, const HookRequest&) -> HookResult {
    called = true;
    return {};
  };
  ShardRequest request;
  request.batch = &batch;
  request.model = &model;
  request.extra_seq_buffers = {{"tags", 1}};
  EXPECT_EQ(error_code([&] { resolve_sharder(request, member(0, 2)); }), "RW-SHARD-001");
  EXPECT_FALSE(called);
}

TEST(Resolution, ExtraBuffersAreCutByRoundRobin) {
  Batch batch = small_batch();
  batch["tags"] = row({1, 2, 3, 4});
  ShardRequest request;
  request.batch = &batch;
  request.extra_seq_buffers = {{"tags", 1}};
  Resolution resolution = resolve_sharder(request, member(0, 2));
  EXPECT_EQ(longs(resolution.sharder.shard(resolution.batch).at("tags")), (Longs{1, 4}));
  batch.erase("tags");
  EXPECT_EQ(error_code([&] { resolution.sharder.shard(batch); }), "RW-SHARD-002");
}

TEST(Resolution, MagiTakesOneSequencePlainMasksAndTextAtSeveralRanks) {
  const Batch one = small_batch();
  Batch two = one;
  for (auto& [key, tensor] : two) tensor = tensor.repeat({2, 1});
  ShardedModel model;
  model.attention = AttentionBackend::magi_hf;
  const auto shard = [&](const Batch& batch, const layout::Mask& mask) {
    ShardRequest request;
    request.batch = &batch;
    request.model = &model;
    request.mask = mask;
    request.chunk = 2;
    Resolution resolution = resolve_sharder(request, member(0, 2));
    return error_text([&] { resolution.sharder.shard(resolution.batch); });
  };
  EXPECT_EQ(shard(one, {}), "");
  EXPECT_THAT(shard(two, {}), HasSubstr("2 rows"));
  EXPECT_THAT(shard(one, {.window = 3}), HasSubstr("window"));
  EXPECT_THAT(shard(one, {.prefix_tree = {{0, 4, -1}}}), HasSubstr("prefix tree"));
  model.multimodal = true;
  EXPECT_THAT(shard(one, {}), HasSubstr("cp = 2"));
}

}  // namespace
}  // namespace ringwright::worker

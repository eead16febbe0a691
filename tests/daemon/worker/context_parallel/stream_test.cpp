// Packed rows as a stream, and the errors of batches that do not hold together. Values of the conversion itself are in the goldens
// (golden_cp, "thd_convert", "shard_batch_thd", "shard_batch_glm_packed").
#include "daemon/worker/context_parallel/stream.h"

#include <gmock/gmock.h>

#include "daemon/worker/context_parallel/deepseek_v4_strategy.h"
#include "daemon/worker/context_parallel/flavours.h"
#include "daemon/worker/context_parallel/stream_strategies.h"
#include "tests/daemon/worker/context_parallel/shard_support.h"
#include "tests/daemon/worker/support/rank_threads.h"

namespace ringwright::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Batch packed(const std::vector<Longs>& lengths, const std::vector<Longs>& slots, int64_t row_length) {
  const int64_t rows = static_cast<int64_t>(lengths.size());
  const at::Tensor ids = at::arange(1, rows * row_length + 1).reshape({rows, row_length});
  Batch batch = {{"input_ids", ids}, {"labels", ids}, {"position_ids", at::arange(row_length).expand({rows, row_length})}};
  add_document_lengths(batch, lengths, slots);
  return batch;
}

std::string stream_error(const Batch& batch, int64_t num_chunks = 1) {
  return error_text([&] { rows_to_stream(batch, {.num_chunks = num_chunks}); });
}

TEST(Stream, ErrorsNameTheNumbers) {
  EXPECT_THAT(stream_error(packed({{5}}, {{4}}, 8)), AllOf(HasSubstr("5 tokens"), HasSubstr("slot of 4")));
  EXPECT_THAT(stream_error(packed({{4, 3}}, {{6, 4}}, 8)), AllOf(HasSubstr("10"), HasSubstr("8")));
  EXPECT_THAT(stream_error(packed({{4}, {4}, {4}}, {{4}, {4}, {4}}, 4), 2), AllOf(HasSubstr("3, 4"), HasSubstr("2 chunks")));
  EXPECT_THAT(stream_error(packed({{4}}, {{4}}, 4), 0), HasSubstr("0 chunks"));
  Batch uneven = packed({{2, 2}}, {{2, 2}}, 4);
  uneven["seq_lens_padded"] = row({4, kNoDocument});
  EXPECT_THAT(stream_error(uneven), AllOf(HasSubstr("2 seq_lens"), HasSubstr("1 seq_lens_padded")));
  Batch short_labels = packed({{4}}, {{4}}, 4);
  short_labels["labels"] = row({1, 2});
  EXPECT_THAT(stream_error(short_labels), AllOf(HasSubstr("labels"), HasSubstr("1, 2"), HasSubstr("4 tokens")));
  for (const char* key : {"input_ids", "labels", "position_ids", "seq_lens", "seq_lens_padded"}) {
    Batch batch = packed({{4}}, {{4}}, 4);
    batch.erase(key);
    EXPECT_THAT(stream_error(batch), HasSubstr(key));
  }
}

// A row that ends behind its last slot would shift every document of the rows that follow.
TEST(Stream, OnlyTheLastRowMayEndBehindItsSlots) {
  EXPECT_THAT(stream_error(packed({{4}, {6}}, {{4}, {6}}, 6)), AllOf(HasSubstr("row 0"), HasSubstr("4"), HasSubstr("6")));
  EXPECT_EQ(stream_error(packed({{6}, {4}}, {{6}, {4}}, 6)), "");
}

TEST(Stream, TheBatchHandedInStaysAsItIs) {
  const Batch batch = packed({{3, 2}}, {{4, 4}}, 8);
  const Batch copy = batch;
  for (int rank = 0; rank < 2; ++rank) {
    for (const StrategyPointer& strategy :
         {make_thd_strategy({}), make_glm_strategy(2, {}), make_dispatch_strategy({.chunk = 2}), make_deepseek_v4_strategy(2, {})}) {
      Sharder(strategy, member(rank, 2)).shard(batch);
    }
  }
  EXPECT_EQ(batch.size(), copy.size());
  EXPECT_EQ(batch.values.size(), 1u);
  for (const auto& [key, tensor] : copy) {
    EXPECT_TRUE(batch.at(key).is_same(tensor)) << key;
  }
  EXPECT_EQ(longs(batch.at("input_ids")), (Longs{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(longs(batch.at("seq_lens_padded")), (Longs{4, 4}));
}

TEST(Stream, ThdCutsEveryDocumentHeadAndTail) {
  Sharder sharder(make_thd_strategy({}), member(1, 2));
  const Batch local = sharder.shard(packed({{4, 8}}, {{4, 8}}, 12));
  EXPECT_EQ(longs(local.at("input_ids")), (Longs{2, 3, 7, 8, 9, 10}));
  EXPECT_EQ(longs(local.at("cu_seqlens")), (Longs{0, 4, 12}));
  EXPECT_EQ(local.at("max_seqlen").item<int32_t>(), 8);
  EXPECT_EQ(std::get<int64_t>(local.values.at("cp_rank")), 1);
  EXPECT_EQ(sharder.facts().row_document_offsets, (std::vector<Longs>{{0, 4, 12}}));
}

TEST(Stream, ThdRefusesWhatItCannotCut) {
  Batch sections = packed({{4}}, {{4}}, 4);
  sections["position_ids"] = sections["position_ids"].unsqueeze(0).repeat({3, 1, 1});
  EXPECT_EQ(error_code([&] { Sharder(make_thd_strategy({}), member(0, 2)).shard(sections); }), "RW-SHARD-003");
  EXPECT_EQ(error_code([&] { Sharder(make_thd_strategy({}), member(0, 2)).shard(packed({{3, 5}}, {{3, 5}}, 8)); }), "RW-LAYOUT-009");
  EXPECT_EQ(error_code([&] { Sharder(make_glm_strategy(4, {}), member(0, 4)).shard(packed({{6}}, {{6}}, 6)); }), "RW-LAYOUT-001");
}

// Rows that came with offsets instead of lengths are no less packed.
TEST(Stream, BalancedTakesDocumentsFromWhereTheyAre) {
  const auto offsets_of = [](const Batch& batch) {
    Sharder sharder(make_dispatch_strategy({.chunk = 2}), member(0, 2));
    sharder.shard(batch);
    return sharder.facts().row_document_offsets.front();
  };
  const Batch lengths = packed({{3, 2}, {8}}, {{4, 4}, {8}}, 8);
  EXPECT_EQ(offsets_of(lengths), (Longs{0, 4, 8, 16}));
  Batch offsets = lengths;
  offsets.erase("seq_lens");
  offsets.erase("seq_lens_padded");
  EXPECT_EQ(error_code([&] { offsets_of(offsets); }), "RW-SHARD-002");
  offsets["cu_seqlens"] = at::tensor({0, 5, 16}, at::kInt);
  EXPECT_EQ(offsets_of(offsets), (Longs{0, 5, 16}));
  offsets["cu_seqlens"] = at::tensor({0, 5, 15}, at::kInt);
  EXPECT_EQ(error_code([&] { offsets_of(offsets); }), "RW-STREAM-001");
  EXPECT_EQ(offsets_of(packed({{3}, {8}}, {{4}, {8}}, 8)), (Longs{0, 4, 8, 16}));
}

// An extra key would stay as it was while the rows around it change their shape.
TEST(Stream, ExtraKeysOfRowsThatChangeTheirShapeAreRefused) {
  Batch batch = packed({{3, 2}}, {{4, 4}}, 8);
  batch["tags"] = batch.at("labels");
  BatchOptions options;
  options.extra_sequence_keys = {{"tags", 1}};
  EXPECT_EQ(error_code([&] { Sharder(make_deepseek_v4_strategy(2, {.batch = options}), member(0, 2)).shard(batch); }), "RW-SHARD-003");
  for (const char* flavour : {"thd", "glm"}) {
    EXPECT_EQ(error_code([&] { make_sharder(flavour, member(0, 2), {.batch = options}).shard(batch); }), "RW-SHARD-003");
  }
}

// Facts and verbs belong to the batch that was cut last.
TEST(Stream, FactsAreThoseOfTheLastBatch) {
  Sharder sharder(make_thd_strategy({}), member(0, 2));
  EXPECT_EQ(error_code([&] { sharder.shard_token_tensor(row({1, 2, 3, 4})); }), "RW-SHARD-003");
  sharder.shard(packed({{4, 8}}, {{4, 8}}, 12));
  EXPECT_EQ(sharder.local_token_global_indices(12).numel(), 6);
  sharder.shard(packed({{4}}, {{4}}, 4));
  EXPECT_EQ(error_code([&] { sharder.local_token_global_indices(12); }), "RW-SHARD-001");
  EXPECT_EQ(longs(sharder.shard_token_tensor(row({5, 6, 7, 8}))), (Longs{5, 8}));
  EXPECT_EQ(error_code([&] { sharder.gather_token_tensor(row({1, 2}), 1); }), "RW-SHARD-001");
}

// Every rank's rows become as long as the longest, where an expert-parallel dispatcher needs equal token counts.
TEST(Stream, DeepseekRowsGrowToTheLongestOfAGroup) {
  mesh::ParallelismSizes sizes;
  sizes.dp = 2;
  sizes.cp = 2;
  test::run_on_threads(
      4,
      [](const ProcessGroups& ranks) {
        const int64_t length = ranks.group("dp").rank == 0 ? 4 : 16;
        Sharder sharder(make_deepseek_v4_strategy(2, {.equal_rows = ranks.group("dp")}), ranks.group("cp"));
        EXPECT_EQ(sharder.shard(packed({{length}}, {{length}}, length)).at("input_ids").size(1), 8);
        EXPECT_EQ(sharder.facts().padded_length, 16);
      },
      sizes);
}

// Ranks whose maps do not fit together are refused instead of giving a gather with holes.
TEST(Stream, AGatherOverMapsThatAreNoPermutationIsRefused) {
  EXPECT_THROW(test::run_on_threads(2,
                                    [](const ProcessGroups& ranks) {
                                      ShardFacts facts;
                                      facts.local_token_global_indices = at::tensor({0, 1}, at::kLong);
                                      const Sharder sharder(make_dispatch_strategy({}), ranks.group("cp"), facts);
                                      sharder.gather_token_tensor(row({1, 2}));
                                    }),
               Error);
}

}  // namespace
}  // namespace ringwright::worker

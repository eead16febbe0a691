// What travels and what is held: counted bytes against the mask, with heads that share keys, and the memory of a step.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/local_attention.h"
#include "daemon/worker/parallel/collectives.h"
#include "shared/layout/traffic.h"
#include "tests/daemon/worker/attention/attention_cases.h"
#include "tests/daemon/worker/attention/thread_test.h"
#include "tests/daemon/worker/support/counting_backend.h"
#include "tests/daemon/worker/support/live_bytes.h"
#include "tests/daemon/worker/support/rank_test.h"

namespace ringwright::worker {
namespace {

using namespace ringwright::test;

// Tokens of this rank that a query of `reader` sees.
int64_t tokens_read(const NamedLayout& c, int reader, int owner) {
  const std::vector<int64_t> queries = c.layout->local_token_global_indices(c.padded_length, reader),
                             keys = c.layout->local_token_global_indices(c.padded_length, owner);
  return std::count_if(keys.begin(), keys.end(),
                       [&](int64_t k) { return std::any_of(queries.begin(), queries.end(), [&](int64_t q) { return sees(c.mask, q, k); }); });
}

// What layout::traffic says is what is sent, over every layout and mask, by methods that move keys and values. (Those that exchange heads make groups
// of their own, whose backends are not counted.)
THREAD_TEST(AttentionTraffic, BytesAreThoseThatTheCostModelCounts, 4) {
  const ProcessGroup& cp = ranks.group("cp");
  const Shape shape{.heads = 12, .kv_heads = 4, .head_size = 8};
  for (const NamedMask& mask : all_masks(60)) {
    for (const NamedLayout& c : all_layouts(4, 60, mask.mask)) {
      for (const layout::MethodEntry& method : methods_that_take(*c.layout, c.mask, shape)) {
        if (method.head_refusal != nullptr) continue;
        SCOPED_TRACE(std::string(method.name) + ", " + mask.name + ", " + c.name);
        const auto [group, counter] = counted(cp);
        const Tensors local = cut(make_tensors(shape, c.padded_length), local_map(*c.layout, c.padded_length, cp.rank), at::kFloat);
        run(local, make_attention(method.name, c.layout, group), c.mask);
        int64_t sent = 0, wanted = 0;
        for (const at::Tensor& bytes : all_gather(at::full({1}, counter->sent_bytes, at::kLong), cp)) sent += bytes.item<int64_t>();
        const layout::MaskArea area(c.mask, c.padded_length);
        const auto traffic =
            layout::traffic(method.name, *c.layout, area, c.padded_length, {shape.heads, shape.kv_heads, shape.head_size, sizeof(float)});
        ASSERT_TRUE(traffic);
        for (const layout::RankTraffic& rank : *traffic) wanted += rank.forward_bytes + rank.backward_bytes;
        EXPECT_EQ(sent, wanted);
      }
    }
  }
}

// A range of keys goes only to ranks whose mask reads it, and its gradient comes back from them alone.
THREAD_TEST(AttentionTraffic, RangedSendsWhatTheMaskReadsAndNoMore, 4) {
  const ProcessGroup& cp = ranks.group("cp");
  const int64_t tokens = 120, kv_heads = 3, head_size = 8;
  for (const NamedMask& mask : all_masks(tokens)) {
    for (const NamedLayout& c : all_layouts(4, tokens, mask.mask)) {
      SCOPED_TRACE(mask.name + ", " + c.name);
      const auto [group, counter] = counted(cp);
      const Tensors local = cut(make_tensors({.kv_heads = kv_heads, .head_size = head_size}, c.padded_length),
                                local_map(*c.layout, c.padded_length, cp.rank), at::kFloat);
      run(local, make_attention("ranged", c.layout, group), c.mask);
      const int64_t token_bytes = 2 * kv_heads * head_size * static_cast<int64_t>(sizeof(float));
      for (int other = 0; other < 4; ++other) {
        if (other == cp.rank) continue;
        // Keys forward, keys again backward, and the gradients of the keys that this rank read.
        const int64_t wanted = 2 * tokens_read(c, other, cp.rank) + tokens_read(c, cp.rank, other);
        EXPECT_EQ(counter->sent_bytes_by_rank[other], wanted * token_bytes) << "to rank " << other;
      }
    }
  }
}

// cp 2, round_robin: all of rank 1 sees rank 0's head and nobody sees its tail, so half of rank 0's block stays at home.
THREAD_TEST(AttentionTraffic, RingSendsWhatLaterRanksRead, 2) {
  const auto [group, counter] = counted(ranks.group("cp"));
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout("round_robin", 2);
  const Tensors local = cut(make_tensors({.kv_heads = 4}, 64), local_map(*layout, 64, group.rank), at::kFloat);
  run(local, make_attention("ring", layout, group), {});
  const int64_t token_bytes = 2 * 4 * 8 * static_cast<int64_t>(sizeof(float));
  // Forward alone moves keys, since the first block is kept; backward moves the gradient of what this rank read.
  EXPECT_EQ(counter->sent_bytes, (group.rank == 0 ? 16 + 32 : 32 + 16) * token_bytes);
}

THREAD_TEST(AttentionTraffic, SharedKeyHeadsCostAQuarterOfTheBytes, 2) {
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout("round_robin", 2);
  for (const layout::MethodEntry& method : layout::methods()) {
    const auto bytes = [&](int64_t kv_heads) {
      const auto [group, counter] = counted(ranks.group("cp"));
      const Tensors local = cut(make_tensors({.heads = 8, .kv_heads = kv_heads}, 64), local_map(*layout, 64, group.rank), at::kFloat);
      run(local, make_attention(method.name, layout, group), {});
      return counter->sent_bytes;
    };
    if (method.name != "ring" && method.name != "all_gather" && method.name != "ranged") continue;  // these move keys and values alone
    const int64_t all_heads = bytes(8);
    EXPECT_GT(all_heads, 0) << method.name;
    EXPECT_EQ(bytes(2) * 4, all_heads) << method.name;
  }
}

// Highest tensor memory of a call with its backward pass, inputs and gradients included.
int64_t peak_bytes(const AttentionFunction& attend, int64_t local_length, int64_t heads, int64_t kv_heads, int64_t head_size) {
  LiveBytes bytes;
  const auto make = [&](int64_t count) { return at::ones({1, local_length, count, head_size}, at::kFloat).transpose(1, 2); };
  const at::Tensor q = make(heads).requires_grad_(), k = make(kv_heads).requires_grad_(), v = make(kv_heads).requires_grad_();
  const at::Tensor grad_out = make(heads);
  attend(q, k, v, {}, 0.1).backward(grad_out);
  return bytes.peak();
}

// Expanded keys and values would be two more tensors of the queries' size, and their gradients two more.
TEST(AttentionMemory, SharedKeyHeadsAreNotExpanded) {
  const int64_t length = 512, heads = 8, head_size = 64, query_bytes = length * heads * head_size * static_cast<int64_t>(sizeof(float));
  // Queries, output, its gradient, the queries' gradient; keys, values and their gradients are an eighth each.
  EXPECT_LT(peak_bytes(local_attention, length, heads, 1, head_size), query_bytes * 5);
}

// Over ranks, by every method: with a quarter of the key heads, whatever a rank holds of keys and values is a quarter, its own (four tensors with
// their gradients) and those that the method brought from elsewhere (two at least). Were these expanded to the query heads, they would not shrink.
void expect_keys_not_expanded(const ProcessGroup& group) {
  const int64_t length = 512, heads = 8, head_size = 64, query_bytes = length * heads * head_size * static_cast<int64_t>(sizeof(float));
  const auto layout = std::shared_ptr<const layout::Layout>(layout::make_layout("round_robin", group.size));
  const auto most_of_all_ranks = [&](std::string_view method, int64_t kv_heads) {
    const AttentionFunction attend = make_attention(method, layout, group);
    peak_bytes(attend, length, heads, kv_heads, head_size);  // plans are made
    const std::vector<at::Tensor> peaks = all_gather(at::full({1}, peak_bytes(attend, length, heads, kv_heads, head_size), at::kLong), group);
    return static_cast<double>(at::stack(peaks).max().item<int64_t>()) / static_cast<double>(query_bytes);
  };
  for (const layout::MethodEntry& method : methods_that_take(*layout, {}, {.heads = heads, .kv_heads = 2})) {
    const double all = most_of_all_ranks(method.name, heads), few = most_of_all_ranks(method.name, 2);
    if (group.rank == 0)
      std::cout << method.name << " at cp = " << group.size << ": " << all << " tensors of the queries' size, with 2 key heads " << few << "\n";
    EXPECT_GE(all - few, 0.75 * (4 + 2) * 0.95) << method.name;
  }
}

RANK_TEST(AttentionMemory, SharedKeyHeadsAreNotExpandedOverTwoRanks, 2) { expect_keys_not_expanded(ranks.group("cp")); }
RANK_TEST(AttentionMemory, SharedKeyHeadsAreNotExpandedOverFourRanks, 4) { expect_keys_not_expanded(ranks.group("cp")); }

// Long enough for gradients to go in lanes of heads.
void expect_share(const ProcessGroup& group, double share_max) {
  const int64_t tokens = 4096, heads = 8, head_size = 128;
  const AttentionFunction attend = make_attention("ring", layout::make_layout("round_robin", group.size), group);
  const int64_t own = peak_bytes(attend, tokens / group.size, heads, heads, head_size);
  const std::vector<at::Tensor> peaks = all_gather(at::full({1}, own, at::kLong), group);
  if (group.rank != 0) return;
  const auto most = static_cast<double>(at::stack(peaks).max().item<int64_t>());
  const double share = most / static_cast<double>(peak_bytes(local_attention, tokens, heads, heads, head_size));
  std::cout << "live tensor bytes of attention at cp = " << group.size << ": " << share << " of one rank's\n";
  EXPECT_LE(share, share_max);
}

RANK_TEST(AttentionMemory, TwoRanksHoldFourFifthsEach, 2) { expect_share(ranks.group("cp"), 0.80); }
RANK_TEST(AttentionMemory, FourRanksHoldLessThanHalfEach, 4) { expect_share(ranks.group("cp"), 0.45); }

}  // namespace
}  // namespace ringwright::worker

// What is refused, before anything is sent.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/local_attention.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/attention/attention_cases.h"
#include "tests/support/error_of.h"

namespace ringwright::worker {
namespace {

using namespace ringwright::test;
using testing::HasSubstr;

struct BadMask {
  const char* name;
  const char* code;
  layout::Mask mask;
};

std::vector<BadMask> bad_masks() {
  using Kind = layout::Mask::Kind;
  return {
      {"documents that do not start at 0", "RW-MASK-001", {.kind = Kind::causal, .document_offsets = {1, 8}, .window = 0, .prefix_tree = {}}},
      {"documents that descend", "RW-MASK-001", {.kind = Kind::causal, .document_offsets = {0, 6, 4, 8}, .window = 0, .prefix_tree = {}}},
      {"documents longer than the sequence", "RW-MASK-001", {.kind = Kind::causal, .document_offsets = {0, 9}, .window = 0, .prefix_tree = {}}},
      {"a negative window", "RW-MASK-002", {.kind = Kind::causal, .document_offsets = {}, .window = -1, .prefix_tree = {}}},
      {"a window beside a full mask", "RW-MASK-002", {.kind = Kind::full, .document_offsets = {}, .window = 4, .prefix_tree = {}}},
      {"a tree beside a full mask", "RW-MASK-003", {.kind = Kind::full, .document_offsets = {}, .window = 0, .prefix_tree = {{0, 8, -1}}}},
      {"a tree beside documents", "RW-MASK-003", {.kind = Kind::causal, .document_offsets = {0, 8}, .window = 0, .prefix_tree = {{0, 8, -1}}}},
      {"a tree outside the sequence", "RW-MASK-003", {.kind = Kind::causal, .document_offsets = {}, .window = 0, .prefix_tree = {{4, 8, -1}}}},
  };
}

// Nothing of a mask is ever dropped: what cannot be honoured is an error, at the call and in the check before a launch.
TEST(AttentionRefusals, MasksThatAreNoneAreRefusedByEveryMethod) {
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout("none", 1);
  const at::Tensor q = at::zeros({1, 2, 8, 4});
  for (const BadMask& bad : bad_masks()) {
    EXPECT_EQ(error_code([&] { local_attention(q, q, q, bad.mask, 1); }), bad.code) << bad.name;
    for (const layout::MethodEntry& method : layout::methods()) {
      EXPECT_EQ(error_code([&] { make_attention(method.name, layout, ProcessGroup{})(q, q, q, bad.mask, 1); }), bad.code) << method.name << bad.name;
      EXPECT_EQ(error_code([&] { check_attention(method.name, {*layout, bad.mask, 2, 2}, 8); }), bad.code) << method.name << bad.name;
    }
  }
}

// What is refused although the mask is one: exchanges of heads that cannot be dealt to the ranks, under every mask and layout alike. ring, all_gather
// and ranged take everything.
struct RefusedPair {
  std::string_view method;
  int64_t kv_heads;  // for 12 query heads
  int cp;
  const char* says;
};

constexpr RefusedPair kRefusedPairs[] = {
    {layout::names::kAllToAll, 6, 4, "6 key/value heads"},          {layout::names::kAllToAll, 3, 2, "3 key/value heads"},
    {layout::names::kAllToAll, 3, 4, "3 key/value heads"},          {layout::names::kAllToAllRing, 12, 2, "cp = 2 has no divisor"},
    {layout::names::kAllToAllRing, 6, 2, "cp = 2 has no divisor"},  {layout::names::kAllToAllRing, 3, 2, "cp = 2 has no divisor"},
    {layout::names::kAllToAllRing, 12, 3, "cp = 3 has no divisor"}, {layout::names::kAllToAllRing, 6, 3, "cp = 3 has no divisor"},
    {layout::names::kAllToAllRing, 3, 3, "cp = 3 has no divisor"},  {layout::names::kAllToAllRing, 3, 4, "cp = 4"},
};

constexpr int64_t kTokens = 48, kHeads = 12;

// Every mask over every layout that takes it.
void for_each_call(int cp, const std::function<void(const NamedMask& mask, const NamedLayout& layout)>& visit) {
  for (const NamedMask& mask : all_masks(kTokens))
    for (const NamedLayout& layout : all_layouts(cp, kTokens, mask.mask)) visit(mask, layout);
}

class RefusedPairs : public testing::TestWithParam<RefusedPair> {};

TEST_P(RefusedPairs, AreRefusedUnderEveryMaskBeforeAnythingIsSent) {
  const RefusedPair& pair = GetParam();
  for_each_call(pair.cp, [&](const NamedMask& mask, const NamedLayout& layout) {
    SCOPED_TRACE(mask.name + ", " + layout.name);
    const AttentionRequest request{*layout.layout, layout.mask, kHeads, pair.kv_heads};
    EXPECT_EQ(error_code([&] { check_attention(pair.method, request, layout.padded_length); }), "RW-CP-002");
    EXPECT_THAT(attention_refusal(pair.method, request), HasSubstr(pair.says));
    const int64_t length = layout.padded_length / pair.cp;
    const at::Tensor q = at::zeros({1, kHeads, length, 4}), k = at::zeros({1, pair.kv_heads, length, 4});
    ProcessGroup group;  // without a backend: a call that sent anything would end the test
    group.size = pair.cp;
    const AttentionFunction attend = make_attention(pair.method, layout.layout, group);
    EXPECT_EQ(error_code([&] { attend(q, k, k, layout.mask, 1); }), "RW-CP-002");
  });
}

INSTANTIATE_TEST_SUITE_P(AttentionRefusals, RefusedPairs, testing::ValuesIn(kRefusedPairs), [](const testing::TestParamInfo<RefusedPair>& info) {
  std::string name(info.param.method);
  std::replace(name.begin(), name.end(), '+', '_');
  return fmt::format("{}_{}_kv_heads_cp_{}", name, info.param.kv_heads, info.param.cp);
});

TEST(AttentionRefusals, NoOtherPairIsRefused) {
  fmt::print("{:<16} {:>8} | {:^7} | {:^7} | {:^7} | {:^7}\n", "12 query heads", "KV heads", "cp 2", "cp 3", "cp 4", "cp 6");
  for (const layout::MethodEntry& method : layout::methods()) {
    for (const int64_t kv_heads : {12, 6, 3}) {
      fmt::print("{:<16} {:>8}", method.name, kv_heads);
      for (const int cp : {2, 3, 4, 6}) {
        const bool listed = std::any_of(std::begin(kRefusedPairs), std::end(kRefusedPairs), [&](const RefusedPair& pair) {
          return pair.method == method.name && pair.kv_heads == kv_heads && pair.cp == cp;
        });
        for_each_call(cp, [&](const NamedMask& mask, const NamedLayout& layout) {
          EXPECT_EQ(attention_refusal(method.name, {*layout.layout, layout.mask, kHeads, kv_heads}).empty(), !listed)
              << method.name << ", " << kv_heads << " KV heads, cp " << cp << ", " << mask.name << ", " << layout.name;
        });
        fmt::print(" | {:^7}", listed ? "refused" : "");
      }
      fmt::print("\n");
    }
  }
  std::fflush(stdout);
}

TEST(AttentionRefusals, UnknownMethodsAndOtherSizes) {
  EXPECT_EQ(error_code([] { make_attention("rnig", layout::make_layout("none", 1), ProcessGroup{}); }), "RW-CP-001");
  EXPECT_EQ(error_code([] { make_attention("ring", layout::make_layout("round_robin", 2), ProcessGroup{}); }), "RW-CP-003");
}

}  // namespace
}  // namespace ringwright::worker

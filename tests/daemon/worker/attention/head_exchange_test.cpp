// Methods that exchange heads equal full attention on grids of four and six ranks.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "daemon/worker/context_parallel/all_to_all_attention.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/attention/attention_cases.h"
#include "tests/daemon/worker/support/rank_threads.h"
#include "tests/deep_tier.h"

namespace ringwright::worker {
namespace {

using namespace ringwright::test;
using testing::HasSubstr;

std::string refusal_of(std::string_view method, int cp, int64_t heads, int64_t kv_heads) {
  const auto layout = layout::make_layout("round_robin", cp);
  try {
    check_attention(method, {*layout, {}, heads, kv_heads}, 8 * cp);
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-CP-002");
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    return error.parts().what;
  }
  return "";
}

// Before anything is launched.
TEST(HeadExchange, HeadCountsThatDoNotFitAreRefused) {
  EXPECT_THAT(refusal_of("all_to_all", 5, 12, 12), HasSubstr("12 query heads cannot be dealt to 5 ranks"));
  EXPECT_THAT(refusal_of("all_to_all", 4, 12, 6), HasSubstr("6 key/value heads"));
  EXPECT_THAT(refusal_of("all_to_all+ring", 3, 12, 12), HasSubstr("cp = 3 has no divisor"));
  EXPECT_EQ(refusal_of("all_to_all", 4, 12, 2), "");
  EXPECT_EQ(refusal_of("all_to_all+ring", 6, 12, 1), "");
  EXPECT_EQ(refusal_of("all_to_all", 1, 7, 7), "");
  EXPECT_EQ(refusal_of("all_to_all+ring", 1, 7, 7), "");
}

void expect_equals_full_attention(int cp, const NamedMask& mask, const NamedLayout& layout, const Shape& shape) {
  const Tensors full = make_tensors(shape, layout.padded_length);
  const Gradients want = reference(full, allowed_matrix(layout.mask, layout.padded_length));
  run_on_threads(cp, [&](const ProcessGroups& ranks) {
    const ProcessGroup& group = ranks.group("cp");
    const at::Tensor map = local_map(*layout.layout, layout.padded_length, group.rank);
    for (const char* method : {"all_to_all", "all_to_all+ring"}) {
      if (!attention_refusal(method, {*layout.layout, layout.mask, shape.heads, shape.kv_heads}).empty()) continue;
      SCOPED_TRACE(fmt::format("{}, {}, {}, {} kv heads, cp {}", method, mask.name, layout.name, shape.kv_heads, cp));
      const Tensors local = cut(full, map, at::kFloat);
      const AttentionFunction attend = make_attention(method, layout.layout, group);
      const Gradients got = run(local, attend, layout.mask);
      EXPECT_LE(largest_difference(got, want, map), 1e-5);
      EXPECT_TRUE(equal_bits(got, run(local, attend, layout.mask)));
    }
  });
}

void expect_equals_full_attention(int cp, const std::vector<int64_t>& kv_heads) {
  size_t turn = 0;
  for (const int64_t tokens : by_tier<std::vector<int64_t>>({29}, {1, 5, 61}))
    for (const NamedMask& mask : all_masks(tokens))
      for (const NamedLayout& layout : all_layouts(cp, tokens, mask.mask))
        for (const int64_t each : all_or_one(kv_heads, turn++)) expect_equals_full_attention(cp, mask, layout, {.rows = 2, .kv_heads = each});
}

// Ratios of heads of 1, 2 and 4, as far as they can be dealt.
TEST(HeadExchange, EqualsFullAttentionOnAGridOfFour) { expect_equals_full_attention(4, {12, 6}); }
TEST(HeadExchange, EqualsFullAttentionOnAGridOfSix) { expect_equals_full_attention(6, {12, 6, 3}); }
// Two ranks, or three, hold the same key head: its gradient has a share from each.
TEST(HeadExchange, SharedKeyHeadsOnFour) { expect_equals_full_attention(4, {2}); }
TEST(HeadExchange, OneKeyHeadOnSix) { expect_equals_full_attention(6, {1}); }

}  // namespace
}  // namespace ringwright::worker

// What is refused, before anything is sent.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <utility>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/local_attention.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/attention/attention_cases.h"
#include "tests/support/error_of.h"

namespace ringwright::worker {
namespace {

using namespace ringwright::test;
using testing::UnorderedElementsAre;

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

// What is refused although the mask is one: exchanges of 12 query and 3 key heads that cannot be dealt to the ranks, under every mask and
// layout alike. ring, all_gather and ranged take everything.
TEST(AttentionRefusals, ThePairsThatAreRefused) {
  std::set<std::pair<std::string, int>> refused;
  for (const int cp : {1, 2, 3, 4}) {
    for (const NamedMask& mask : all_masks(48)) {
      for (const NamedLayout& layout : all_layouts(cp, 48, mask.mask)) {
        for (const layout::MethodEntry& method : layout::methods()) {
          const AttentionRequest request{*layout.layout, layout.mask, 12, 3};
          const std::string code = error_code([&] { check_attention(method.name, request, layout.padded_length); });
          if (code == "none") continue;
          EXPECT_EQ(code, "RW-CP-002");
          std::cout << "refused: " << method.name << ", " << mask.name << ", " << layout.name << ", cp " << cp << ": "
                    << attention_refusal(method.name, request) << "\n";
          refused.emplace(method.name, cp);
        }
      }
    }
  }
  EXPECT_THAT(refused, UnorderedElementsAre(std::pair("all_to_all", 2), std::pair("all_to_all", 4), std::pair("all_to_all+ring", 2),
                                            std::pair("all_to_all+ring", 3), std::pair("all_to_all+ring", 4)));
}

TEST(AttentionRefusals, UnknownMethodsAndOtherSizes) {
  EXPECT_EQ(error_code([] { make_attention("rnig", layout::make_layout("none", 1), ProcessGroup{}); }), "RW-CP-001");
  EXPECT_EQ(error_code([] { make_attention("ring", layout::make_layout("round_robin", 2), ProcessGroup{}); }), "RW-CP-003");
}

}  // namespace
}  // namespace ringwright::worker

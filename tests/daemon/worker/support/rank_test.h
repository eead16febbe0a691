// A GoogleTest that runs in several processes, one rank each, which talk over the transport that a run on one host gets.
//
//   RANK_TEST(RingAttention, MatchesFullAttention, 2) { EXPECT_EQ(ranks.world_size(), 2); }
//
// The test starts the program again once a rank (the same test by filter) and passes when all ranks pass. A rank that fails shows its output.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::test {

// In a rank: connects over a mesh of cp = world_size and calls `body`. In the test: starts the ranks and waits for them.
void run_on_ranks(int world_size, const std::function<void(const worker::ProcessGroups& ranks)>& body,
                  const worker::ProcessGroupOptions& options = {});

}  // namespace ringwright::test

// RANK_TEST_OVER: over one transport by name ("gloo").
#define RANK_TEST_OVER(suite, name, world_size, transport_name)                      \
  static void suite##_##name##_body(const ringwright::worker::ProcessGroups& ranks); \
  TEST(suite, name) {                                                                \
    ringwright::worker::ProcessGroupOptions options;                                 \
    options.transport = ringwright::worker::transport_from_name(transport_name);     \
    ringwright::test::run_on_ranks(world_size, suite##_##name##_body, options);      \
  }                                                                                  \
  static void suite##_##name##_body([[maybe_unused]] const ringwright::worker::ProcessGroups& ranks)
#define RANK_TEST(suite, name, world_size) RANK_TEST_OVER(suite, name, world_size, "auto")

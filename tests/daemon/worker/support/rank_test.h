// A GoogleTest that runs in several processes, one rank each, which talk over the transport that a run on one host gets.
//
//   RANK_TEST(RingAttention, MatchesFullAttention, 2) { EXPECT_EQ(ranks.world_size(), 2); }
//
//   MESH_TEST(SftTrainer, DataParallel, data_mesh(2, 2)) { EXPECT_EQ(ranks.group("dp").size, 2); }   over the ranks of any mesh
//
// The test starts the program again once a rank (the same test by filter) and passes when all ranks pass. A rank that fails shows its output.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "daemon/worker/parallel/process_groups.h"
#include "tests/daemon/worker/support/rank_processes.h"

namespace ringwright::test {

// In a rank: connects over the mesh and calls `body`. In the test: starts the ranks of the world and waits for them.
void run_on_ranks(int world_size, const mesh::Mesh& mesh, const std::function<void(const worker::ProcessGroups& ranks)>& body,
                  const worker::ProcessGroupOptions& options = {});

}  // namespace ringwright::test

// WORLD_TEST: in a world of which the mesh may be a part, over one transport by name ("auto", "gloo").
#define WORLD_TEST(suite, name, world_size, mesh, transport_name)                     \
  static void suite##_##name##_body(const ringwright::worker::ProcessGroups& ranks);  \
  TEST(suite, name) {                                                                 \
    ringwright::worker::ProcessGroupOptions options;                                  \
    options.transport = ringwright::worker::transport_from_name(transport_name);      \
    ringwright::test::run_on_ranks(world_size, mesh, suite##_##name##_body, options); \
  }                                                                                   \
  static void suite##_##name##_body([[maybe_unused]] const ringwright::worker::ProcessGroups& ranks)
#define MESH_TEST(suite, name, mesh) WORLD_TEST(suite, name, (mesh).size(), mesh, "auto")
// RANK_TEST_OVER: over one transport by name.
#define RANK_TEST_OVER(suite, name, world_size, transport_name) \
  WORLD_TEST(suite, name, world_size, ringwright::test::data_mesh(1, world_size), transport_name)
#define RANK_TEST(suite, name, world_size) RANK_TEST_OVER(suite, name, world_size, "auto")

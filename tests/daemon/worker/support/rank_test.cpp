#include "tests/daemon/worker/support/rank_test.h"

#include <fmt/format.h>

#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/support/rank_processes.h"

namespace ringwright::test {
namespace {

constexpr std::chrono::seconds kDeadline(100);

void run_as_rank(const worker::Rendezvous& rendezvous, const mesh::Mesh& mesh, const std::function<void(const worker::ProcessGroups&)>& body,
                 const worker::ProcessGroupOptions& options) {
  worker::configure_torch(1, 1);
  const worker::ProcessGroups ranks = connect_ranks(rendezvous, mesh, options);
  try {
    body(ranks);
  } catch (const Error& error) {
    ADD_FAILURE() << describe(error.parts());
  }
  if (!testing::Test::HasFailure()) {
    worker::barrier(ranks.group("world"));
  }
}

}  // namespace

void run_on_ranks(int world_size, const mesh::Mesh& mesh, const std::function<void(const worker::ProcessGroups&)>& body,
                  const worker::ProcessGroupOptions& options) {
  if (const auto rendezvous = rank_rendezvous()) {
    run_as_rank(*rendezvous, mesh, body, options);
    return;
  }
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = fmt::format("--gtest_filter={}.{}", info->test_suite_name(), info->name());
  const std::vector<RankExit> exits = run_rank_processes(world_size, {filter}, kDeadline);
  for (size_t rank = 0; rank < exits.size(); ++rank) {
    if (exits[rank].status != 0) {
      ADD_FAILURE() << "rank " << rank << " ended with status " << exits[rank].status << ":\n" << exits[rank].output;
    }
  }
}

}  // namespace ringwright::test

// Starts this program again, once a rank. Rank 0 gets a listening socket, as a worker gets it from the daemon.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "daemon/worker/parallel/process_groups.h"

namespace ringwright::test {

struct RankExit {
  int status = -1;     // as from waitpid; 0: the rank ended well
  std::string output;  // stdout and stderr
};

// Runs `world_size` copies with these arguments and waits for them; a rank that is still there at the deadline is killed.
std::vector<RankExit> run_rank_processes(int world_size, std::vector<std::string> arguments, std::chrono::seconds deadline);

// In a process that was started so: whom to meet. Else nullopt.
std::optional<worker::Rendezvous> rank_rendezvous();

// dp x cp ranks.
mesh::Mesh data_mesh(int dp, int cp);

worker::ProcessGroups connect_ranks(const worker::Rendezvous& rendezvous, const mesh::Mesh& mesh, worker::ProcessGroupOptions options = {});

}  // namespace ringwright::test

#include "tests/daemon/worker/support/rank_threads.h"

#include <ATen/Parallel.h>

#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/worker/parallel/in_process.h"

namespace ringwright::test {
namespace {

mesh::ParallelismSizes context_parallel(int world_size) {
  mesh::ParallelismSizes sizes;
  sizes.cp = world_size;
  return sizes;
}

// What the first rank that failed threw.
class FirstFailure {
 public:
  void record(worker::InProcessWorld& world, int rank, std::exception_ptr failure, const std::string& how) {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = std::move(failure);
    world.lose(rank, "has failed: " + how);
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void run_on_threads(int world_size, const std::function<void(const worker::ProcessGroups&)>& body,
                    const std::optional<mesh::ParallelismSizes>& sizes) {
  at::set_num_threads(1);  // a rank's operators run in its own thread alone
  const mesh::Mesh mesh = mesh::Mesh::build(world_size, sizes.value_or(context_parallel(world_size)));
  worker::InProcessWorld world(world_size);
  FirstFailure failure;
  const auto run_rank = [&](int rank) {
    const worker::RankThread rank_thread;
    std::optional<worker::ProcessGroups> ranks;  // outlives the record of a failure, or its peers would only see that it left
    try {
      ranks = world.connect(mesh, rank);
      body(*ranks);
    } catch (const std::exception& error) {
      failure.record(world, rank, std::current_exception(), error.what());
    } catch (...) {
      failure.record(world, rank, std::current_exception(), "an exception of unknown type");
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world_size; ++rank) threads.emplace_back(run_rank, rank);
  }
  failure.rethrow();
}

}  // namespace ringwright::test

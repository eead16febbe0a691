// Times blocks that go round a ring of ranks, every rank sending and receiving at once. Prints one JSON line of rank 0's figures:
//   {"job": "transport", "transport": "gloo", "gib_per_s": .., "cpu_s_per_gib": .., "small_us": ..}
// gib_per_s: what a rank sends, and receives as much; cpu_s_per_gib: of its process, all threads; small_us: one step with 64 bytes. Medians.
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "tests/bench/support/timing.h"
#include "tests/daemon/worker/support/rank_processes.h"

namespace {

using namespace ringwright;
using bench::median;
using bench::now_s;

struct Options {
  int ranks = 2, repeats = 30;
  int64_t block_bytes = int64_t{8} << 20;
  std::string transport = "auto";
};

struct Times {
  double wall_s, cpu_s;
};

// Medians of single steps; the first ones touch the memory and do not count.
Times time_steps(const worker::ProcessGroup& group, int64_t bytes, int repeats) {
  const at::Tensor out = at::zeros({bytes}, at::kByte), in = at::zeros({bytes}, at::kByte);
  const int next = (group.rank + 1) % group.size, previous = (group.rank + group.size - 1) % group.size;
  std::vector<double> wall, cpu;
  for (int repeat = -5; repeat < repeats; ++repeat) {
    const double wall_start = now_s(CLOCK_MONOTONIC), cpu_start = now_s(CLOCK_PROCESS_CPUTIME_ID);
    worker::Transfers(group, {{out, next, 0}}, {{in, previous, 0}}).wait();
    if (repeat < 0) continue;
    wall.push_back(now_s(CLOCK_MONOTONIC) - wall_start);
    cpu.push_back(now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_start);
  }
  return {median(wall), median(cpu)};
}

void run_rank(const Options& options, const worker::Rendezvous& rendezvous) {
  worker::configure_torch(1, 1);
  worker::ProcessGroupOptions group_options;
  group_options.transport = worker::transport_from_name(options.transport);
  const worker::ProcessGroups ranks = test::connect_ranks(rendezvous, test::data_mesh(1, rendezvous.world_size), group_options);
  const worker::ProcessGroup& group = ranks.group("cp");
  const Times large = time_steps(group, options.block_bytes, options.repeats), small = time_steps(group, 64, 20 * options.repeats);
  const double gib = static_cast<double>(options.block_bytes) / static_cast<double>(int64_t{1} << 30);
  if (group.rank == 0) {
    std::cout << nlohmann::json{{"job", "transport"},
                                {"transport", group.backend->getBackendName()},
                                {"ranks", options.ranks},
                                {"block_bytes", options.block_bytes},
                                {"gib_per_s", gib / large.wall_s},
                                {"cpu_s_per_gib", large.cpu_s / gib},
                                {"small_us", small.wall_s * 1e6}}
                     .dump()
              << std::endl;
  }
  worker::barrier(group);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times blocks that go round a ring of ranks, and prints one JSON line.");
  app.add_option("--ranks", options.ranks, "Processes")->check(CLI::Range(2, 64));
  app.add_option("--block-bytes", options.block_bytes, "Bytes that each rank sends in a step")->check(CLI::PositiveNumber);
  app.add_option("--transport", options.transport, "auto, gloo or shared_memory");
  app.add_option("--repeats", options.repeats, "Timed steps; the median counts")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    if (const auto rendezvous = test::rank_rendezvous()) {
      run_rank(options, *rendezvous);
      return 0;
    }
    for (const test::RankExit& exit : test::run_rank_processes(options.ranks, {argv + 1, argv + argc}, std::chrono::seconds(300))) {
      if (exit.status != 0) throw std::runtime_error("a rank ended with status " + std::to_string(exit.status) + ":\n" + exit.output);
      std::cout << exit.output;
    }
    return 0;
  } catch (const Error& error) {
    std::cerr << describe(error.parts()) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "bench_transport: " << error.what() << "\n";
  }
  return 1;
}

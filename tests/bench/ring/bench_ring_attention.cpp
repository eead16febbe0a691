// Times ring attention, forward + backward, over N ranks of one thread each, every rank on its own core. Prints one JSON line:
//   {"job": "ring_attention", "ranks": 2, "wall_s": .., "cpu_s_slowest": .., "cpu_s_fastest": .., ...}
// wall_s: from a barrier to the end of the slowest rank. cpu_s: time on all cores of the rank's process, so Gloo's threads count. Medians.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <sched.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/support/rank_processes.h"

namespace {

using namespace ringwright;
using nlohmann::json;

struct Options {
  int ranks = 2, repeats = 5, first_core = 0;
  int64_t tokens = 8192, heads = 8, kv_heads = 8, head_size = 64;
  std::string layout = "round_robin", method = "ring";
};

std::string method_names() {
  std::string names;
  for (const worker::AttentionMethodEntry& entry : worker::attention_methods()) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

double now_s(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// To the n-th of the cores that this process may use. Threads that are started later inherit it.
void pin_to_core(int n) {
  cpu_set_t allowed, chosen;
  CPU_ZERO(&chosen);
  sched_getaffinity(0, sizeof(allowed), &allowed);
  n %= CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed) && n-- == 0) {
      CPU_SET(core, &chosen);
      break;
    }
  }
  sched_setaffinity(0, sizeof(chosen), &chosen);
}

// One rank's medians.
json measure(const Options& options, const worker::ProcessGroups* ranks) {
  const worker::ProcessGroup group = ranks != nullptr ? ranks->group("cp") : worker::ProcessGroup{};
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout(group.size == 1 ? "none" : options.layout, group.size);
  const worker::AttentionFunction attend = worker::make_attention(options.method, layout, group);
  const int64_t local = options.tokens / group.size;
  const auto make = [&](int64_t heads) { return at::randn({1, heads, local, options.head_size}); };
  const at::Tensor q = make(options.heads).requires_grad_(), k = make(options.kv_heads).requires_grad_(), v = make(options.kv_heads).requires_grad_();
  const at::Tensor grad_out = make(options.heads);
  std::vector<double> wall, cpu;
  for (int repeat = 0; repeat <= options.repeats; ++repeat) {
    worker::barrier(group);
    const double wall_start = now_s(CLOCK_MONOTONIC), cpu_start = now_s(CLOCK_PROCESS_CPUTIME_ID);
    attend(q, k, v, {}, 1 / std::sqrt(static_cast<double>(options.head_size))).backward(grad_out);
    wall.push_back(now_s(CLOCK_MONOTONIC) - wall_start);
    cpu.push_back(now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_start);
    for (const at::Tensor& tensor : {q, k, v}) {
      tensor.mutable_grad().reset();
    }
  }
  wall.erase(wall.begin());  // the first call warms up
  cpu.erase(cpu.begin());
  return {{"wall_s", median(wall)}, {"cpu_s", median(cpu)}};
}

void run_rank(const Options& options, const worker::Rendezvous& rendezvous) {
  pin_to_core(options.first_core + rendezvous.rank);
  worker::configure_torch(1, 1);
  const worker::ProcessGroups ranks = test::connect_ranks(rendezvous, test::data_mesh(1, rendezvous.world_size));
  std::cout << measure(options, &ranks).dump() << std::endl;
  worker::barrier(ranks.group("world"));
}

std::vector<json> run_all_ranks(const Options& options, std::vector<std::string> arguments) {
  std::vector<json> results;
  for (const test::RankExit& exit : test::run_rank_processes(options.ranks, std::move(arguments), std::chrono::seconds(600))) {
    if (exit.status != 0) {
      throw std::runtime_error(fmt::format("a rank ended with status {}:\n{}", exit.status, exit.output));
    }
    results.push_back(json::parse(exit.output));
  }
  return results;
}

json summarize(const Options& options, const std::vector<json>& ranks) {
  std::vector<double> cpu, wall;
  for (const json& rank : ranks) {
    cpu.push_back(rank["cpu_s"].get<double>());
    wall.push_back(rank["wall_s"].get<double>());
  }
  const auto [fastest, slowest] = std::minmax_element(cpu.begin(), cpu.end());
  return {{"job", "ring_attention"},
          {"ranks", options.ranks},
          {"tokens", options.tokens},
          {"heads", options.heads},
          {"kv_heads", options.kv_heads},
          {"head_size", options.head_size},
          {"wall_s", *std::max_element(wall.begin(), wall.end())},
          {"cpu_s_slowest", *slowest},
          {"cpu_s_fastest", *fastest},
          {"slowest_over_fastest", *slowest / *fastest}};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times ring attention, forward + backward, and prints one JSON line.");
  app.add_option("--ranks", options.ranks, "Processes of one thread; 1: plain attention")->check(CLI::PositiveNumber);
  app.add_option("--tokens", options.tokens, "Length of the whole sequence");
  app.add_option("--heads", options.heads, "Query heads");
  app.add_option("--kv-heads", options.kv_heads, "Key and value heads");
  app.add_option("--head-size", options.head_size, "Size of a head");
  app.add_option("--layout", options.layout, "round_robin or contiguous");
  app.add_option("--method", options.method, "How attention is spread: " + method_names());
  app.add_option("--repeats", options.repeats, "Timed calls; the median counts")->check(CLI::PositiveNumber);
  app.add_option("--first-core", options.first_core, "Rank r is pinned to core number first-core + r of those allowed");
  CLI11_PARSE(app, argc, argv);
  try {
    if (const auto rendezvous = test::rank_rendezvous()) {
      run_rank(options, *rendezvous);
      return 0;
    }
    std::cout << summarize(options, run_all_ranks(options, {argv + 1, argv + argc})).dump() << std::endl;
    return 0;
  } catch (const Error& error) {
    std::cerr << describe(error.parts()) << "\n";
  } catch (const std::exception& error) {
    std::cerr << "bench_ring_attention: " << error.what() << "\n";
  }
  return 1;
}

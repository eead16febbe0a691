// Times ring attention, forward + backward, over N ranks of one thread each, every rank on its own core. Prints one JSON line:
//   {"job": "ring_attention", "ranks": 2, "wall_s": .., "cpu_s_slowest": .., "cpu_s_fastest": .., ...}
// wall_s: from a barrier to the end of the slowest rank. cpu_s: time on all cores of the rank's process, so Gloo's threads count. Medians.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/parallel/collectives.h"
#include "daemon/worker/torch_environment.h"
#include "shared/base/error.h"
#include "shared/layout/method_cost.h"
#include "shared/layout/methods.h"
#include "tests/bench/support/timing.h"
#include "tests/daemon/worker/support/live_bytes.h"
#include "tests/daemon/worker/support/rank_processes.h"

namespace {

using namespace ringwright;
using bench::median;
using bench::now_s;
using nlohmann::json;

struct Options {
  int ranks = 2, repeats = 5, first_core = 0;
  int64_t tokens = 8192, heads = 8, kv_heads = 8, head_size = 64, documents = 0;
  bool one_by_one = false, choose_only = false;
  std::string layout = "round_robin", method = "ring";
};

std::string method_names() {
  std::string names;
  for (const std::string& name : layout::method_names()) names += (names.empty() ? "" : ", ") + name;
  return names;
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

// Documents of one to five shares each, of whole `unit`s, that fill the tokens.
std::vector<int64_t> document_offsets(int64_t tokens, int64_t documents, int64_t unit) {
  std::vector<int64_t> offsets = {0};
  const int64_t units = tokens / unit;
  int64_t shares = 0, passed = 0;
  for (int64_t d = 0; d < documents; ++d) shares += 1 + d * 7 % 5;
  for (int64_t d = 0; d < documents; ++d) {
    passed += 1 + d * 7 % 5;
    offsets.push_back(units * passed / shares * unit);
  }
  return offsets;
}

// One call over a part of the sequence: all documents at once, or one of them.
struct Job {
  worker::AttentionFunction attend;
  layout::Mask mask;
  at::Tensor q, k, v, grad_out;

  void run(double scale) const {
    attend(q, k, v, mask, scale).backward(grad_out);
    for (const at::Tensor& tensor : {q, k, v}) tensor.mutable_grad().reset();
  }
};

// `auto`: what a run would take here.
std::string chosen_method(const Options& options, const layout::Layout& layout, const layout::Mask& mask, int64_t padded_length) {
  if (options.method != "auto") return options.method;
  const layout::MaskArea area(mask, padded_length);
  return std::string(layout::choose_method({.layout = layout,
                                            .area = area,
                                            .padded_length = padded_length,
                                            .heads = {options.heads, options.kv_heads},
                                            .head_size = options.head_size})
                         .method);
}

Job make_job(const Options& options, const worker::ProcessGroup& group, const std::vector<int64_t>& offsets) {
  layout::Options layout_options;
  Job job;
  if (options.documents > 0) {
    job.mask.document_offsets = offsets;
    layout_options.document_offsets = offsets;
    layout_options.sequence_length = offsets.back();
    layout_options.mask = job.mask;
  }
  const std::shared_ptr<const layout::Layout> layout = layout::make_layout(group.size == 1 ? "none" : options.layout, group.size, layout_options);
  const int64_t padded_length = layout->padded_length(offsets.back()), local = padded_length / group.size;
  const auto make = [&](int64_t heads) { return at::randn({1, heads, local, options.head_size}); };
  job.attend = worker::make_attention(chosen_method(options, *layout, job.mask, padded_length), layout, group);
  job.q = make(options.heads).requires_grad_(), job.k = make(options.kv_heads).requires_grad_(), job.v = make(options.kv_heads).requires_grad_();
  job.grad_out = make(options.heads);
  return job;
}

std::vector<Job> make_jobs(const Options& options, const worker::ProcessGroup& group) {
  const std::vector<int64_t> offsets =
      options.documents > 0 ? document_offsets(options.tokens, options.documents, 2 * group.size) : std::vector<int64_t>{0, options.tokens};
  if (!options.one_by_one) return {make_job(options, group, offsets)};
  std::vector<Job> jobs;
  for (size_t d = 1; d < offsets.size(); ++d) jobs.push_back(make_job(options, group, {0, offsets[d] - offsets[d - 1]}));
  return jobs;
}

// One rank's medians, and the highest tensor memory of a call with its inputs and gradients.
json measure(const Options& options, const worker::ProcessGroups* ranks) {
  const worker::ProcessGroup group = ranks != nullptr ? ranks->group("cp") : worker::ProcessGroup{};
  const double scale = 1 / std::sqrt(static_cast<double>(options.head_size));
  int64_t live_bytes = 0;
  {
    const test::LiveBytes bytes;
    for (const Job& job : make_jobs(options, group)) job.run(scale);  // warms up
    live_bytes = bytes.peak();
  }
  const std::vector<Job> jobs = make_jobs(options, group);
  std::vector<double> wall, cpu;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    worker::barrier(group);
    const double wall_start = now_s(CLOCK_MONOTONIC), cpu_start = now_s(CLOCK_PROCESS_CPUTIME_ID);
    for (const Job& job : jobs) job.run(scale);
    wall.push_back(now_s(CLOCK_MONOTONIC) - wall_start);
    cpu.push_back(now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_start);
  }
  return {{"wall_s", median(wall)}, {"cpu_s", median(cpu)}, {"live_mib", static_cast<double>(live_bytes) / (1 << 20)}};
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

// Of the whole batch, by name; `auto` is what a run would take.
std::string method_of(const Options& options) {
  if (options.ranks == 1 || options.documents > 0) return options.method;
  const auto layout = layout::make_layout(options.layout, options.ranks, {.sequence_length = options.tokens});
  return chosen_method(options, *layout, {}, layout->padded_length(options.tokens));
}

json summarize(const Options& options, const std::vector<json>& ranks) {
  std::vector<double> cpu, wall, live;
  for (const json& rank : ranks) {
    live.push_back(rank["live_mib"].get<double>());
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
          {"method", method_of(options)},
          {"wall_s", *std::max_element(wall.begin(), wall.end())},
          {"cpu_s_slowest", *slowest},
          {"cpu_s_fastest", *fastest},
          {"slowest_over_fastest", *slowest / *fastest},
          {"slowest_over_mean", *slowest * static_cast<double>(cpu.size()) / std::accumulate(cpu.begin(), cpu.end(), 0.0)},
          {"live_mib", *std::max_element(live.begin(), live.end())}};
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
  app.add_option("--layout", options.layout, "A layout by its name; packed documents: thd or balanced");
  app.add_option("--documents", options.documents, "Packed documents, one to five shares of the tokens each; 0: one sequence");
  app.add_flag("--one-by-one", options.one_by_one, "The documents one after the other instead of packed");
  app.add_option("--method", options.method, "How attention is spread: auto, " + method_names());
  app.add_flag("--choose-only", options.choose_only, "Prints the method that is taken, and times nothing");
  app.add_option("--repeats", options.repeats, "Timed calls; the median counts")->check(CLI::PositiveNumber);
  app.add_option("--first-core", options.first_core, "Rank r is pinned to core number first-core + r of those allowed");
  CLI11_PARSE(app, argc, argv);
  try {
    if (const auto rendezvous = test::rank_rendezvous()) {
      run_rank(options, *rendezvous);
      return 0;
    }
    if (options.choose_only) {
      std::cout << json{{"method", method_of(options)}}.dump() << std::endl;
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

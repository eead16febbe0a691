// How long it takes to make a layout for one stream, the maps of all its ranks, and the order that undoes them; and how often memory is asked for.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "shared/layout/layout.h"

namespace {

int64_t allocations = 0;

}  // namespace

// Not inlined: the compiler would take the free() for a mismatch of the new.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

namespace layout = ringwright::layout;

struct Options {
  int64_t tokens = 1 << 20;
  int cp = 64;
  int64_t documents = 300;
  int repeats = 5;
};

struct Taken {
  double ms = 0;
  int64_t allocations = 0;
};

// Documents of one to three parts, each a multiple of 2*cp, that fill the stream.
std::vector<int64_t> document_offsets(const Options& options) {
  const int64_t unit = 2 * options.cp, units = options.tokens / unit;
  int64_t parts = 0, done = 0;
  for (int64_t d = 0; d < options.documents; ++d) parts += 1 + d % 3;
  std::vector<int64_t> offsets = {0};
  for (int64_t d = 0; d < options.documents; ++d) {
    done += 1 + d % 3;
    offsets.push_back(units * done / parts * unit);
  }
  offsets.back() = options.tokens;
  return offsets;
}

Taken measure(const std::string& name, const Options& options, const layout::Options& made, std::vector<int64_t>& maps, std::vector<int64_t>& order) {
  const int64_t allocations_before = allocations;
  const auto start = std::chrono::steady_clock::now();
  const auto layout = layout::make_layout(name, options.cp, made);
  const int64_t padded = layout->padded_length(options.tokens), local = layout->local_length(padded);
  for (int rank = 0; rank < options.cp; ++rank) {
    // The identity's maps are all the same; one place is enough.
    const int64_t place = layout->replicates() ? 0 : rank * local;
    layout->fill_indices(padded, rank, std::span(maps).subspan(static_cast<size_t>(place), static_cast<size_t>(local)));
  }
  layout->fill_gather_order(padded, std::span(order).first(static_cast<size_t>(padded)));
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  return {taken.count(), allocations - allocations_before};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times the maps of every layout");
  app.add_option("--tokens", options.tokens, "tokens of the stream");
  app.add_option("--cp", options.cp, "ranks");
  app.add_option("--documents", options.documents, "documents of the stream");
  app.add_option("--repeats", options.repeats, "the median counts");
  CLI11_PARSE(app, argc, argv);
  layout::Options made{.document_offsets = document_offsets(options), .sequence_length = options.tokens};
  made.mask.document_offsets = made.document_offsets;
  const size_t room = static_cast<size_t>(options.tokens + options.cp * layout::kChunkDefault);
  std::vector<int64_t> maps(room), order(room);
  std::string each;
  Taken worst;
  for (const std::string& name : layout::layout_names()) {
    if (name == "none") continue;  // it moves nothing
    std::vector<Taken> runs;
    for (int i = 0; i < options.repeats; ++i) runs.push_back(measure(name, options, made, maps, order));
    std::sort(runs.begin(), runs.end(), [](const Taken& a, const Taken& b) { return a.ms < b.ms; });
    const Taken& median = runs[runs.size() / 2];
    each += fmt::format(", \"{}_ms\": {:.3f}", name, median.ms);
    worst = {std::max(worst.ms, median.ms), std::max(worst.allocations, median.allocations)};
  }
  fmt::print("{{\"slowest_ms\": {:.3f}, \"allocations_per_token\": {:.6f}{}}}\n", worst.ms,
             static_cast<double>(worst.allocations) / static_cast<double>(options.tokens), each);
  return 0;
}

#include "daemon/worker/context_parallel/ring_plan.h"

#include <algorithm>
#include <string>

#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

using Runs = std::vector<layout::Run>;

// The runs of each rank, in local order.
std::vector<Runs> runs_by_rank(const layout::Layout& layout, int64_t padded_length) {
  std::vector<Runs> ranks(static_cast<size_t>(layout.cp()));
  for (const layout::Run& run : layout.runs(padded_length)) {
    Runs& own = ranks[static_cast<size_t>(run.rank)];
    if (!own.empty() && run.global_start < own.back().global_start + own.back().length) {
      throw Error({.code = "RW-CP-002",
                   .what = "ring attention cannot work on the layout \"" + std::string(layout.name()) + "\"",
                   .where = "context parallelism",
                   .expected = "a layout whose tokens ascend on every rank: round_robin or contiguous",
                   .action = "choose one of these layouts",
                   .exit_code = ExitCode::refused});
    }
    own.push_back(run);
  }
  return ranks;
}

// Keys of `source` that a query run sees: runs of different ranks never overlap, so each is wholly before it or wholly after it.
int64_t visible_keys(const layout::Run& query, const Runs& source, bool causal) {
  int64_t length = 0;
  for (const layout::Run& key : source) {
    if (!causal || key.global_start < query.global_start) {
      length = key.local_start + key.length;
    }
  }
  return length;
}

// Neighbouring query runs that see the same keys become one rectangle.
std::vector<Rectangle> see(const Runs& queries, const Runs& source, bool causal) {
  std::vector<Rectangle> rectangles;
  for (const layout::Run& query : queries) {
    const int64_t key_length = visible_keys(query, source, causal);
    if (key_length == 0 || query.length == 0) {
      continue;
    }
    if (!rectangles.empty() && rectangles.back().key_length == key_length &&
        rectangles.back().query_start + rectangles.back().query_length == query.local_start) {
      rectangles.back().query_length += query.length;
    } else {
      rectangles.push_back({query.local_start, query.length, key_length});
    }
  }
  return rectangles;
}

}  // namespace

RingPlan::RingPlan(const layout::Layout& layout, int64_t local_length, int rank, bool causal)
    : cp_(static_cast<size_t>(layout.cp())), local_length_(local_length), rectangles_(cp_), visible_length_(cp_ * cp_, 0) {
  const std::vector<Runs> runs = runs_by_rank(layout, local_length * layout.cp());
  for (size_t reader = 0; reader < cp_; ++reader) {
    for (size_t source = 0; source < cp_; ++source) {
      if (source == reader) {
        continue;
      }
      std::vector<Rectangle> rectangles = see(runs[reader], runs[source], causal);
      for (const Rectangle& rectangle : rectangles) {
        visible_length_[reader * cp_ + source] = std::max(visible_length_[reader * cp_ + source], rectangle.key_length);
      }
      if (static_cast<int>(reader) == rank) {
        rectangles_[source] = std::move(rectangles);
      }
    }
  }
}

int64_t RingPlan::key_length(int source, int hop) const {
  const int cp = static_cast<int>(cp_);
  int64_t length = 0;
  for (int h = hop; h < cp; ++h) {
    length = std::max(length, visible_length((source + h) % cp, source));
  }
  return length;
}

int64_t RingPlan::gradient_length(int source, int hop) const {
  const int cp = static_cast<int>(cp_);
  int64_t length = 0;
  for (int h = 1; h <= hop; ++h) {
    length = std::max(length, visible_length((source + h) % cp, source));
  }
  return length;
}

}  // namespace ringwright::worker

// Shard layouts: pure index arithmetic. The one description of where each token lives (ARCHITECTURE.md, idea 1).
//
// A layout maps (rank, local slot) to a global position, -1 for a dropped slot. The sharder indexes tensors with this map, the
// console colours tokens by it, the golden tests check it. Terms: reference "Context-parallel contract", sections 1 and 2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::layout {

// A maximal stretch of slots of one rank that is contiguous both locally and globally.
struct Run {
  int rank;
  int64_t local_start;
  int64_t global_start;
  int64_t length;
  int64_t document;  // index of the document, 0 where the layout has none
};

// Owner of one global position.
struct Slot {
  int rank;
  int64_t index;
};

class Layout {
 public:
  virtual ~Layout() = default;

  virtual std::string_view name() const = 0;
  int cp() const { return cp_; }
  // The padded sequence length must be a multiple of this.
  virtual int64_t divisor() const = 0;
  // Sequence length padded up to the divisor.
  int64_t padded_length(int64_t sequence_length) const;
  // Global position of each local slot of `rank`; size padded_length / cp. Throws Error RW-LAYOUT-001 ("... divisible ...") when
  // padded_length misses the divisor, RW-LAYOUT-002 for a rank outside the group. Length 0 gives an empty map.
  virtual std::vector<int64_t> local_token_global_indices(int64_t padded_length, int rank) const = 0;
  // Inverse of the map.
  virtual Slot owner(int64_t padded_length, int64_t global_position) const = 0;
  // The map as runs, over all ranks, ordered by (rank, local_start).
  virtual std::vector<Run> runs(int64_t padded_length) const = 0;
  // Number of (query, key) pairs that `rank` computes under a causal mask over the first `sequence_length` positions.
  int64_t causal_work(int64_t padded_length, int64_t sequence_length, int rank) const;

 protected:
  explicit Layout(int cp);
  void check(int64_t padded_length, int rank) const;

 private:
  int cp_;
};

struct Options {
  int64_t pad_multiple = 1;  // contiguous only; the effective value is at least 2
};

// name: "none", "round_robin", "contiguous". Throws Error RW-LAYOUT-003 for an unknown name (lists the known), RW-LAYOUT-004 for cp < 1.
std::unique_ptr<Layout> make_layout(std::string_view name, int cp, const Options& options = {});
const std::vector<std::string>& layout_names();

}  // namespace ringwright::layout

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

// Bounds that keep every product below in 64 bits.
inline constexpr int64_t kSequenceLengthMax = int64_t{1} << 31;
inline constexpr int kCpMax = 1 << 16;
inline constexpr int64_t kPadMultipleMax = int64_t{1} << 20;

// A maximal stretch of slots of one rank that is contiguous both locally and globally.
struct Run {
  int rank;
  int64_t local_start;
  int64_t global_start;
  int64_t length;
  int64_t document;  // index of the document, 0 where the layout has none

  bool operator==(const Run&) const = default;
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
  // Padding brings the sequence length up to a multiple of this.
  virtual int64_t divisor() const = 0;
  // The index map exists for padded lengths that are a multiple of this; it divides divisor().
  virtual int64_t map_divisor() const { return divisor(); }
  // Sequence length padded up to the divisor. RW-LAYOUT-005: negative, or above kSequenceLengthMax.
  int64_t padded_length(int64_t sequence_length) const;
  // Slots of each rank: padded_length / cp, all of them for the identity.
  virtual int64_t local_length(int64_t padded_length) const { return padded_length / cp_; }
  // Global position of each local slot of `rank`; size local_length. Throws Error RW-LAYOUT-001 ("... divisible ...") when
  // padded_length misses the map's divisor, RW-LAYOUT-002 for a rank outside the group. Length 0 gives an empty map.
  std::vector<int64_t> local_token_global_indices(int64_t padded_length, int rank) const;
  // Inverse of the map. The identity keeps every token on every rank and names rank 0. RW-LAYOUT-006: a position outside the padded length.
  Slot owner(int64_t padded_length, int64_t global_position) const;
  // The map as runs, over all ranks, ordered by (rank, local_start).
  std::vector<Run> runs(int64_t padded_length) const;
  // The map of one rank as runs, ordered by local_start.
  std::vector<Run> runs(int64_t padded_length, int rank) const;
  // Number of (query, key) pairs that `rank` computes under a causal mask over the first `sequence_length` positions.
  int64_t causal_work(int64_t padded_length, int64_t sequence_length, int rank) const;

 protected:
  explicit Layout(int cp);
  // The layout itself: both are called with arguments that have been checked.
  virtual std::vector<Run> rank_runs(int64_t padded_length, int rank) const = 0;
  virtual Slot find_owner(int64_t padded_length, int64_t global_position) const = 0;

 private:
  void check(int64_t padded_length, int rank) const;

  int cp_;
};

struct Options {
  int64_t pad_multiple = 1;  // contiguous only; the effective value is at least 2
};

// name: "none", "round_robin", "contiguous". Throws Error RW-LAYOUT-003 for an unknown name (lists the known), RW-LAYOUT-004 for a cp outside
// 1..kCpMax or a pad_multiple outside 0..kPadMultipleMax.
std::unique_ptr<Layout> make_layout(std::string_view name, int cp, const Options& options = {});
const std::vector<std::string>& layout_names();

}  // namespace ringwright::layout

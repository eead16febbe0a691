// Shard layouts: pure index arithmetic. The one description of where each token lives (ARCHITECTURE.md, idea 1).
//
// A layout maps (rank, local slot) to a global position. The sharder indexes tensors with this map, the console colours tokens by it, the golden
// tests check it. Terms: reference "Context-parallel contract", sections 1 and 2.
//
// | name | divisor | map of rank r |
// | --- | --- | --- |
// | none | 1 | everything, on every rank |
// | round_robin | 2 cp | chunks r and 2 cp - 1 - r of 2 cp equal ones (head-tail) |
// | contiguous, deepseek_v4 | cp * max(pad_multiple, 2) | the r-th of cp equal windows |
// | gemma4 | 2 cp | as contiguous |
// | glm | cp, never padded | as contiguous |
// | thd | each document 2 cp (1 at cp 1) | head-tail inside each document |
// | balanced | cp * chunk | the chunks that the dispatch solver dealt to r (shared/layout/dispatch.h), ascending |
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/layout/mask.h"

namespace ringwright::layout {

class MaskArea;

// Bounds that keep every product below in 64 bits.
inline constexpr int64_t kSequenceLengthMax = (int64_t{1} << 31) - 1;
inline constexpr int kCpMax = 1024;
inline constexpr int64_t kPadMultipleMax = int64_t{1} << 20;
inline constexpr int64_t kChunkDefault = 512;
inline constexpr int64_t kChunksOfRank = 16;
inline constexpr int64_t kChunkMax = int64_t{1} << 20;

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

// What a sharder may tell of a batch of `rows` rows (contract 4.1); what a layout does not capture is empty.
struct Facts {
  bool index_map = false;  // local_token_global_indices is captured: the map belongs to this batch alone
  std::optional<int64_t> original_length = {};
  std::optional<int64_t> padded_length = {};
  std::vector<int64_t> row_shape = {};  // [rows, row length] where rows became one stream

  bool operator==(const Facts&) const = default;
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
  // The one padded length that the map exists for, where it was made for one stream: thd, balanced, an installed permutation.
  virtual std::optional<int64_t> stream_length() const { return {}; }
  // Sequence length padded up to the divisor; of a layout that was made for one stream, that stream's. RW-LAYOUT-005: negative, or above
  // kSequenceLengthMax; RW-LAYOUT-001: glm, which never pads, and a length that misses its divisor; RW-LAYOUT-008: another stream.
  virtual int64_t padded_length(int64_t sequence_length) const;
  // Every rank of several holds the whole sequence.
  virtual bool replicates() const { return false; }
  // Slots of each rank: padded_length / cp, all of them where the layout replicates.
  virtual int64_t local_length(int64_t padded_length) const { return padded_length / cp_; }
  // What is captured of a batch of `rows` rows of `row_length` tokens. Errors: those of padded_length.
  virtual Facts facts(int64_t rows, int64_t row_length) const;

  // Global position of each local slot of `rank`; size local_length. Throws Error RW-LAYOUT-001 ("... divisible ...") when
  // padded_length misses the map's divisor, RW-LAYOUT-002 for a rank outside the group, RW-LAYOUT-008 ("... does not match ...") for another
  // length than stream_length(). Length 0 gives an empty map.
  std::vector<int64_t> local_token_global_indices(int64_t padded_length, int rank) const;
  // The same into memory of the caller's, size local_length. No allocation.
  void fill_indices(int64_t padded_length, int rank, std::span<int64_t> indices) const;
  // Inverse of the maps, concatenated in rank order, as a gather yields them: order[p] is where that sequence holds global position p. Size
  // padded_length; the identity names rank 0's slots.
  std::vector<int64_t> gather_order(int64_t padded_length) const;
  void fill_gather_order(int64_t padded_length, std::span<int64_t> order) const;
  // Inverse of the map. The identity keeps every token on every rank and names rank 0. RW-LAYOUT-006: a position outside the padded length.
  Slot owner(int64_t padded_length, int64_t global_position) const;
  // The map as runs, over all ranks, ordered by (rank, local_start).
  std::vector<Run> runs(int64_t padded_length) const;
  // The map of one rank as runs, ordered by local_start.
  std::vector<Run> runs(int64_t padded_length, int rank) const;
  // Number of (query, key) pairs that `rank` computes under the mask; slots behind the mask's stream are padding and compute none.
  int64_t work(const MaskArea& area, int64_t padded_length, int rank) const;

 protected:
  using RunVisitor = std::function<void(const Run&)>;

  explicit Layout(int cp);
  // The layout itself: both are called with arguments that have been checked. Visited runs ascend by local_start; they may be empty or touch.
  virtual void visit_runs(int64_t padded_length, int rank, const RunVisitor& visit) const = 0;
  virtual Slot find_owner(int64_t padded_length, int64_t global_position) const = 0;

 private:
  void check(int64_t padded_length, int rank) const;

  int cp_;
};

struct Options {
  int64_t pad_multiple = 1;                     // contiguous, deepseek_v4; the effective value is at least 2
  std::vector<int64_t> document_offsets = {};   // thd: cumulative padded lengths [0, ..., T]
  std::optional<int64_t> sequence_length = {};  // balanced, thd: tokens of the stream before it is padded; thd's default is T
  std::optional<int64_t> chunk = {};            // balanced: tokens that always stay together; none: default_chunk
  Mask mask = {};                               // balanced: whose area is to be even
};

// What `balanced` keeps together where nobody says how many tokens: kChunkDefault, and for short streams the largest power of two that leaves every
// rank kChunksOfRank chunks, at least one token. Larger chunks would put a short stream on few ranks.
int64_t default_chunk(int64_t sequence_length, int cp);

// Throws Error RW-LAYOUT-003 for an unknown name (lists the known), RW-LAYOUT-004 for a cp, pad_multiple or chunk out of range, RW-LAYOUT-007 for
// what a layout needs and was not given (thd: documents, balanced: the stream's length), RW-LAYOUT-009 for documents that thd cannot split, and what
// check_mask throws.
std::unique_ptr<Layout> make_layout(std::string_view name, int cp, const Options& options = {});
const std::vector<std::string>& layout_names();
// Those that spread a sequence: all but `none`.
const std::vector<std::string>& flavour_names();
// Whether a batch's rows become one stream under the flavour of this name, each row a document of it.
bool joins_rows(std::string_view name);
// What the documents of a packed stream are padded to before the layout takes it: thd 2*cp (1 at cp 1), deepseek_v4 max(pad_multiple, 2), others 1.
// Errors: those of make_layout for name, cp and bounds.
int64_t document_multiple(std::string_view name, int cp, const Options& options = {});

// The layout of runs of `ranks` neighbouring ranks, each of which holds what its ranks hold, in global order; ranks divides cp, and the layout does
// not replicate. For sequences of `padded_length` alone. Errors: those of Layout::runs.
std::unique_ptr<Layout> merge_ranks(const Layout& layout, int64_t padded_length, int ranks);

// The layout "magi": a permutation that somebody else's solver returned, global positions of each rank's slots. cp is the number of ranks. Throws
// Error RW-LAYOUT-010 when ranks differ in length, or a position is outside the stream or there twice. sequence_length: before padding.
std::unique_ptr<Layout> install_permutation(const std::vector<std::vector<int64_t>>& positions_by_rank, std::optional<int64_t> sequence_length = {});

}  // namespace ringwright::layout

// Context parallelism of Mamba blocks (contract, section 7): attention keeps tokens cut by sequence, the scan wants all tokens in order but only some
// heads. Pure index arithmetic; the exchanges themselves are in daemon/worker/context_parallel.
//
// An order is a list of indices: order[i] is the input position that lands at output position i.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shared/layout/layout.h"

namespace ringwright::layout {

struct MambaShape {
  int64_t heads = 1;      // H
  int64_t head_size = 1;  // p; inner width d = H * p
  int64_t groups = 1;     // G
  int64_t state = 1;      // N
};

// What one rank computes.
struct MambaShare {
  int64_t heads = 0;
  int64_t inner_width = 0;
  int64_t groups = 0;
  int64_t group_repeat = 1;  // each group's channels stand this many times before the exchange; above 1 where there are fewer groups than ranks
};

// Throws Error RW-MAMBA-001 with both numbers when cp does not divide the heads, or neither of cp and the groups divides the other.
MambaShare mamba_share(const MambaShape& shape, int cp);

struct ChannelRange {
  int64_t start = 0;
  int64_t length = 0;

  bool operator==(const ChannelRange&) const = default;
};

// What rank `rank` takes of the full parameters.
struct MambaSlices {
  ChannelRange heads;                          // of dt_bias, A_log and D
  ChannelRange conv_x, conv_b, conv_c;         // of the convolution's channels [x:d | B:G*N | C:G*N]
  std::vector<ChannelRange> projected = {};    // widths of the projected sections [z:d | x:d | B:G*N | C:G*N | dt:H], whole
  std::vector<int64_t> conv_channels() const;  // x, B and C joined
};

// Errors: those of mamba_share; RW-LAYOUT-002 for a rank outside the group.
MambaSlices mamba_slices(const MambaShape& shape, int cp, int rank);

// Channels of B or C (G*N of them) as they stand before the exchange: each group's N channels `group_repeat` times in a row.
std::vector<int64_t> group_repeat_order(const MambaShape& shape, int cp);

// Undo: from the order of the exchange (all slots of rank 0, then of rank 1, ...) to global order. Redo is its inverse. Both come from the
// layout's map, so a stream of documents needs no step of its own. Throws Error RW-MAMBA-002 for a layout that keeps the sequence on every rank.
std::vector<int64_t> undo_order(const Layout& layout, int64_t padded_length);
std::vector<int64_t> redo_order(const Layout& layout, int64_t padded_length);

// The two halves of undo for a packed stream, as upstream names them: de-interleave brings each document's slots of all ranks together, rank by rank;
// what remains is to undo head-tail inside each document. offsets: global cumulative padded lengths; zero-length documents are skipped. Throws what
// make_layout("thd") throws for them.
std::vector<int64_t> deinterleave_order(const std::vector<int64_t>& offsets, int cp);
std::vector<int64_t> reinterleave_order(const std::vector<int64_t>& offsets, int cp);
std::vector<int64_t> document_undo_order(const std::vector<int64_t>& offsets, int cp);
std::vector<int64_t> document_redo_order(const std::vector<int64_t>& offsets, int cp);

// Offsets of the documents among one rank's slots: offsets / cp. Errors as above.
std::vector<int64_t> local_offsets(const std::vector<int64_t>& offsets, int cp);

// The document index that the scan kernel is given, for the positions [0, length) of the whole stream: the number of entries of offsets[1:] that are
// at most the position. Empty documents skip a number; positions behind the last offset get the number of documents. Throws Error RW-MAMBA-003 for
// offsets that do not start at 0, descend, or pass `length`, as they do when global lengths are multiplied by cp.
std::vector<int32_t> sequence_index(const std::vector<int64_t>& offsets, int64_t length);

}  // namespace ringwright::layout

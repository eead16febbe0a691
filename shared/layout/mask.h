// Which query sees which key, in GLOBAL positions: one description for the attention methods, the dispatch solver, the estimates and the pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringwright::layout {

// One node of a prefix tree: its tokens see themselves causally, and every token of each ancestor.
struct PrefixNode {
  int64_t start = 0;
  int64_t length = 0;
  int parent = -1;  // index of the parent node, which stands before it; -1: a root

  bool operator==(const PrefixNode&) const = default;
};

// Query q sees key k when both are in one document (or k is in q's node or an ancestor of it), and, under `causal`, k <= q, and, with a window,
// their distance is below the window. The distance is q - k; on a path of a prefix tree only the tokens of the path count, so that a branch sees
// what it would see alone. Positions behind the last document or node see nothing and are seen by nothing.
struct Mask {
  enum class Kind { causal, full };
  Kind kind = Kind::causal;
  std::vector<int64_t> document_offsets = {};  // packed documents: cumulative lengths [0, ..., T]. Empty: one document
  int64_t window = 0;                          // causal only; 0: none
  std::vector<PrefixNode> prefix_tree = {};    // causal only; excludes document_offsets

  bool operator==(const Mask&) const = default;
};

// A rectangle of the mask, in global positions. Causal ones are squares on the diagonal: key_start = query_start, key_length = query_length, and
// k <= q holds inside any part that is cut out of them. Rectangles of one mask never overlap.
struct MaskBlock {
  int64_t query_start = 0, query_length = 0;
  int64_t key_start = 0, key_length = 0;
  bool causal = false;
  // Tokens between keys and queries that are not on the queries' path (prefix trees; else 0): the distance of a pair is q - k - skipped.
  int64_t skipped = 0;

  bool operator==(const MaskBlock&) const = default;
};

// Throws Error with the numbers: RW-MASK-001 document offsets that do not start at 0, descend or pass `length`; RW-MASK-002 a window that is
// negative or stands beside a full mask; RW-MASK-003 a tree with a node outside the stream, over another one, or before its parent's end, or beside
// documents or a full mask; RW-LAYOUT-005 a length outside 0..kSequenceLengthMax.
void check_mask(const Mask& mask, int64_t length);

// The mask over the positions [0, length) as rectangles (contract 2.4): one square; or one per document; or, for each node of a tree in the order
// of the nodes, a causal square and a full rectangle to each ancestor from the root down. Empty rectangles are left out. A window stays a property
// on top of all. Cost O(documents), O(nodes * depth). Errors: those of check_mask.
std::vector<MaskBlock> mask_blocks(const Mask& mask, int64_t length);

// A tree from its nodes' lengths and its leaves' paths (root to leaf, indices of nodes): nodes lie in the stream in the order of their indices;
// the result lists each node once, in the order in which the paths reach them. Throws Error RW-MASK-003 for an index outside the nodes, a node
// with two parents, one on no path, or a path that is empty or goes back in the stream.
std::vector<PrefixNode> prefix_tree_of(const std::vector<int64_t>& node_lengths, const std::vector<std::vector<int>>& paths);

// "causal", "3 documents, causal, window 128", "prefix tree of 5 nodes": for people.
std::string describe(const Mask& mask);

}  // namespace ringwright::layout

// Which query sees which key, in GLOBAL positions: one description for the attention methods, the dispatch solver, the estimates and the pictures.
#pragma once

#include <cstdint>
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
// q - k < window. Positions behind the last document or node see nothing and are seen by nothing.
struct Mask {
  enum class Kind { causal, full };
  Kind kind = Kind::causal;
  std::vector<int64_t> document_offsets;  // packed documents: cumulative lengths [0, ..., T]. Empty: one document
  int64_t window = 0;                     // causal only; 0: none
  std::vector<PrefixNode> prefix_tree;    // causal only; excludes document_offsets

  bool operator==(const Mask&) const = default;
};

}  // namespace ringwright::layout

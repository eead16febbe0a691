#include "shared/layout/mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "shared/layout/layout.h"
#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

void check_documents(const std::vector<int64_t>& offsets, int64_t length) {
  const auto fault = [&](std::string what) {
    refuse("RW-MASK-001", std::move(what), "document offsets", fmt::format("cumulative lengths that start at 0 and end at or before {}", length),
           "give the cumulative lengths of all documents of the stream, padding included");
  };
  if (offsets.empty()) return;
  if (offsets.front() != 0) fault(fmt::format("the document offsets start at {}", offsets.front()));
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) fault(fmt::format("document offset {} falls from {} to {}", i, offsets[i - 1], offsets[i]));
  }
  if (offsets.back() > length) fault(fmt::format("the documents end at {}, behind the stream of {} tokens", offsets.back(), length));
}

void check_window(const Mask& mask) {
  if (mask.window >= 0 && (mask.window == 0 || mask.kind == Mask::Kind::causal)) return;
  refuse("RW-MASK-002",
         mask.window < 0 ? fmt::format("the window is {}", mask.window) : fmt::format("a window of {} stands beside a full mask", mask.window),
         "window", "a number of tokens from 1 on under a causal mask, or 0 for none", "correct the window, or make the mask causal");
}

[[noreturn]] void refuse_tree(std::string what, std::string where) {
  refuse("RW-MASK-003", std::move(what), std::move(where),
         "disjoint nodes inside the stream, each behind the end of its parent, causal, no documents",
         "list the parents first and lay each node behind its parent");
}

// Indices of the nodes, by their place in the stream.
std::vector<size_t> by_start(const std::vector<PrefixNode>& tree) {
  std::vector<size_t> order(tree.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return tree[a].start != tree[b].start ? tree[a].start < tree[b].start : tree[a].length < tree[b].length; });
  return order;
}

void check_tree(const Mask& mask, int64_t length) {
  const std::vector<PrefixNode>& tree = mask.prefix_tree;
  if (tree.empty()) return;
  if (mask.kind != Mask::Kind::causal) refuse_tree("a prefix tree stands beside a full mask", "prefix tree");
  if (!mask.document_offsets.empty()) {
    refuse_tree(fmt::format("a prefix tree stands beside {} document offsets", mask.document_offsets.size()), "prefix tree");
  }
  for (size_t i = 0; i < tree.size(); ++i) {
    const PrefixNode& node = tree[i];
    const std::string where = fmt::format("node {}", i);
    if (node.start < 0 || node.length < 0 || node.length > length || node.start > length - node.length) {
      refuse_tree(fmt::format("node {} starts at {} and has {} tokens, in a stream of {}", i, node.start, node.length, length), where);
    }
    if (node.parent < -1 || node.parent >= static_cast<int>(i)) {
      refuse_tree(fmt::format("the parent of node {} is {}, which does not stand before it", i, node.parent), where);
    }
    if (node.parent < 0) continue;
    const PrefixNode& parent = tree[static_cast<size_t>(node.parent)];
    if (node.start < parent.start + parent.length) {
      refuse_tree(fmt::format("node {} starts at {}, before its parent's end at {}", i, node.start, parent.start + parent.length), where);
    }
  }
  int64_t end = 0;
  for (size_t i : by_start(tree)) {
    if (tree[i].length > 0 && tree[i].start < end) {
      refuse_tree(fmt::format("node {} starts at {}, inside another one that ends at {}", i, tree[i].start, end), fmt::format("node {}", i));
    }
    end = std::max(end, tree[i].start + tree[i].length);
  }
}

// Tokens on the path from the root to the first token of each node.
std::vector<int64_t> path_positions(const std::vector<PrefixNode>& tree) {
  std::vector<int64_t> positions(tree.size(), 0);
  for (size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].parent < 0) continue;
    const size_t parent = static_cast<size_t>(tree[i].parent);
    positions[i] = positions[parent] + tree[parent].length;
  }
  return positions;
}

std::vector<MaskBlock> tree_blocks(const std::vector<PrefixNode>& tree) {
  const std::vector<int64_t> positions = path_positions(tree);
  std::vector<MaskBlock> blocks;
  for (size_t i = 0; i < tree.size(); ++i) {
    const PrefixNode& node = tree[i];
    if (node.length == 0) continue;
    blocks.push_back({node.start, node.length, node.start, node.length, true, 0});
    const size_t first_ancestor = blocks.size();
    for (int a = node.parent; a >= 0; a = tree[static_cast<size_t>(a)].parent) {
      const PrefixNode& ancestor = tree[static_cast<size_t>(a)];
      if (ancestor.length == 0) continue;
      const int64_t skipped = (node.start - ancestor.start) - (positions[i] - positions[static_cast<size_t>(a)]);
      blocks.push_back({node.start, node.length, ancestor.start, ancestor.length, false, skipped});
    }
    std::reverse(blocks.begin() + static_cast<std::ptrdiff_t>(first_ancestor), blocks.end());
  }
  return blocks;
}

}  // namespace

void check_mask(const Mask& mask, int64_t length) {
  if (length < 0 || length > kSequenceLengthMax) {
    refuse("RW-LAYOUT-005", fmt::format("a mask over {} tokens cannot be made", length), "sequence length",
           fmt::format("a length from 0 to {}", kSequenceLengthMax), "check the sequence length");
  }
  check_documents(mask.document_offsets, length);
  check_window(mask);
  check_tree(mask, length);
}

std::vector<MaskBlock> mask_blocks(const Mask& mask, int64_t length) {
  check_mask(mask, length);
  if (!mask.prefix_tree.empty()) return tree_blocks(mask.prefix_tree);
  const bool causal = mask.kind == Mask::Kind::causal;
  std::vector<MaskBlock> blocks;
  if (mask.document_offsets.empty()) {
    if (length > 0) blocks.push_back({0, length, 0, length, causal, 0});
    return blocks;
  }
  blocks.reserve(mask.document_offsets.size());
  for (size_t d = 0; d + 1 < mask.document_offsets.size(); ++d) {
    const int64_t start = mask.document_offsets[d], size = mask.document_offsets[d + 1] - start;
    if (size > 0) blocks.push_back({start, size, start, size, causal, 0});
  }
  return blocks;
}

std::vector<PrefixNode> prefix_tree_of(const std::vector<int64_t>& node_lengths, const std::vector<std::vector<int>>& paths) {
  std::vector<int64_t> starts(node_lengths.size() + 1, 0);
  std::partial_sum(node_lengths.begin(), node_lengths.end(), starts.begin() + 1);
  std::vector<std::optional<int>> place(node_lengths.size());  // index of the node in the result
  std::vector<PrefixNode> tree;
  for (size_t p = 0; p < paths.size(); ++p) {
    const std::string where = fmt::format("path {}", p);
    if (paths[p].empty()) refuse_tree(fmt::format("path {} has no nodes", p), where);
    int parent = -1;
    for (size_t step = 0; step < paths[p].size(); ++step) {
      const int node = paths[p][step];
      if (node < 0 || node >= static_cast<int>(node_lengths.size())) {
        refuse_tree(fmt::format("path {} names node {} of {}", p, node, node_lengths.size()), where);
      }
      if (step > 0 && node <= paths[p][step - 1])
        refuse_tree(fmt::format("path {} goes from node {} back to {}", p, paths[p][step - 1], node), where);
      std::optional<int>& known = place[static_cast<size_t>(node)];
      if (!known) {
        known = static_cast<int>(tree.size());
        tree.push_back({starts[static_cast<size_t>(node)], node_lengths[static_cast<size_t>(node)], parent});
      } else if (tree[static_cast<size_t>(*known)].parent != parent) {
        refuse_tree(fmt::format("path {} reaches node {} by another parent than an earlier path", p, node), where);
      }
      parent = *known;
    }
  }
  const auto missing = std::find(place.begin(), place.end(), std::nullopt);
  if (missing != place.end()) refuse_tree(fmt::format("node {} is on no path", missing - place.begin()), "paths");
  return tree;
}

std::string describe(const Mask& mask) {
  std::string text = mask.kind == Mask::Kind::causal ? "causal" : "full";
  if (!mask.prefix_tree.empty()) text = fmt::format("prefix tree of {} nodes", mask.prefix_tree.size());
  if (mask.document_offsets.size() > 1) {
    text = fmt::format("{} document{}, {}", mask.document_offsets.size() - 1, mask.document_offsets.size() == 2 ? "" : "s", text);
  }
  return mask.window > 0 ? fmt::format("{}, window {}", text, mask.window) : text;
}

}  // namespace ringwright::layout

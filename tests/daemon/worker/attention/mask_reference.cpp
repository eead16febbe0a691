#include "tests/daemon/worker/attention/mask_reference.h"

#include <algorithm>

namespace ringwright::test {
namespace {

int64_t document_of(const layout::Mask& mask, int64_t position) {
  if (mask.document_offsets.empty()) return 0;
  const auto& offsets = mask.document_offsets;
  return position >= offsets.back() ? -1 : std::upper_bound(offsets.begin(), offsets.end(), position) - offsets.begin();
}

int node_of(const layout::Mask& mask, int64_t position) {
  for (size_t i = 0; i < mask.prefix_tree.size(); ++i) {
    const layout::PrefixNode& node = mask.prefix_tree[i];
    if (position >= node.start && position < node.start + node.length) return static_cast<int>(i);
  }
  return -1;
}

// Tokens on the path from the root to the position.
int64_t depth_of(const layout::Mask& mask, int node, int64_t position) {
  const layout::PrefixNode& own = mask.prefix_tree[static_cast<size_t>(node)];
  int64_t depth = position - own.start;
  for (int i = own.parent; i >= 0; i = mask.prefix_tree[static_cast<size_t>(i)].parent) depth += mask.prefix_tree[static_cast<size_t>(i)].length;
  return depth;
}

bool sees_in_tree(const layout::Mask& mask, int64_t q, int64_t k) {
  const int query_node = node_of(mask, q), key_node = node_of(mask, k);
  if (query_node < 0 || key_node < 0) return false;
  bool on_path = false;
  for (int i = query_node; i >= 0; i = mask.prefix_tree[static_cast<size_t>(i)].parent) on_path = on_path || i == key_node;
  const int64_t distance = depth_of(mask, query_node, q) - depth_of(mask, key_node, k);
  return on_path && distance >= 0 && (mask.window == 0 || distance < mask.window);
}

// Three documents and an empty one, of which one has a single token where there is room.
std::vector<int64_t> documents(int64_t tokens) {
  std::vector<int64_t> offsets = {0, tokens / 3, tokens / 3, std::min(tokens, tokens / 3 + 1), tokens};
  return offsets;
}

// A root, two branches, and two leaves on the first branch.
std::vector<layout::PrefixNode> tree(int64_t tokens) {
  const int64_t part = tokens / 5;
  return {
      {0, tokens - 4 * part, -1}, {tokens - 4 * part, part, 0}, {tokens - 3 * part, part, 0}, {tokens - 2 * part, part, 1}, {tokens - part, part, 1}};
}

}  // namespace

bool sees(const layout::Mask& mask, int64_t q, int64_t k) {
  if (!mask.prefix_tree.empty()) return sees_in_tree(mask, q, k);
  const int64_t document = document_of(mask, q);
  if (document < 0 || document != document_of(mask, k)) return false;
  if (mask.kind == layout::Mask::Kind::full) return true;
  return k <= q && (mask.window == 0 || q - k < mask.window);
}

std::vector<NamedMask> all_masks(int64_t tokens) {
  using Kind = layout::Mask::Kind;
  std::vector<NamedMask> masks;
  const auto add = [&](std::string name, layout::Mask mask) { masks.push_back({std::move(name), std::move(mask)}); };
  add("causal", {});
  add("full", {.kind = Kind::full, .document_offsets = {0, tokens}, .window = 0, .prefix_tree = {}});
  add("documents", {.kind = Kind::causal, .document_offsets = documents(tokens), .window = 0, .prefix_tree = {}});
  add("full documents", {.kind = Kind::full, .document_offsets = documents(tokens), .window = 0, .prefix_tree = {}});
  add("window 1", {.kind = Kind::causal, .document_offsets = {}, .window = 1, .prefix_tree = {}});
  add("window", {.kind = Kind::causal, .document_offsets = {}, .window = 2 + tokens / 4, .prefix_tree = {}});
  add("documents, window", {.kind = Kind::causal, .document_offsets = documents(tokens), .window = 2 + tokens / 6, .prefix_tree = {}});
  add("tree", {.kind = Kind::causal, .document_offsets = {}, .window = 0, .prefix_tree = tree(tokens)});
  add("tree, window", {.kind = Kind::causal, .document_offsets = {}, .window = 2 + tokens / 4, .prefix_tree = tree(tokens)});
  return masks;
}

std::vector<NamedLayout> all_layouts(int cp, int64_t tokens, const layout::Mask& mask) {
  std::vector<NamedLayout> layouts;
  const auto add = [&](const char* name, const layout::Options& options, int64_t length, const layout::Mask& with) {
    std::shared_ptr<const layout::Layout> made = layout::make_layout(name, cp, options);
    const int64_t padded = made->padded_length(length);
    layouts.push_back({name, std::move(made), padded, with});
  };
  add("round_robin", {}, tokens, mask);
  add("contiguous", {}, tokens, mask);
  layout::Options balanced;
  balanced.sequence_length = tokens;
  balanced.chunk = std::max<int64_t>(1, tokens / 11);
  balanced.mask = mask;
  add("balanced", balanced, tokens, mask);
  if (!mask.document_offsets.empty()) {
    layout::Options thd;
    thd.document_offsets = {0};
    for (size_t d = 1; d < mask.document_offsets.size(); ++d) {
      const int64_t length = mask.document_offsets[d] - mask.document_offsets[d - 1], unit = 2 * cp;
      thd.document_offsets.push_back(thd.document_offsets.back() + (length + unit - 1) / unit * unit);
    }
    layout::Mask padded = mask;
    padded.document_offsets = thd.document_offsets;
    add("thd", thd, thd.document_offsets.back(), padded);
  }
  return layouts;
}

}  // namespace ringwright::test

// What the tests of this folder share.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>
#include <vector>

#include "shared/base/error.h"
#include "shared/layout/layout.h"
#include "shared/layout/mask.h"
#include "tests/support/error_of.h"

namespace ringwright::layout {

using test::refusal;

inline std::vector<int64_t> offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> offsets(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  return offsets;
}

// A tree of 1..8 nodes one behind the other.
inline std::vector<PrefixNode> any_tree(int64_t length_max) {
  std::vector<PrefixNode> tree(static_cast<size_t>(*rc::gen::inRange(1, 9)));
  int64_t start = *rc::gen::inRange<int64_t>(0, 3);
  for (size_t i = 0; i < tree.size(); ++i) {
    tree[i] = {start, *rc::gen::inRange<int64_t>(0, length_max), *rc::gen::inRange(-1, static_cast<int>(i))};
    start += tree[i].length;
  }
  return tree;
}

// Any mask that fits into `length` positions (at least 60 for trees).
inline Mask any_mask(int64_t length) {
  Mask mask;
  const int kind = *rc::gen::inRange(0, length >= 60 ? 4 : 3);
  if (kind == 0) mask.kind = Mask::Kind::full;
  if (kind == 0 || kind == 2) {
    int64_t end = 0;
    mask.document_offsets = {0};
    for (const int64_t size : *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 30))) {
      if (end + size > length) break;
      mask.document_offsets.push_back(end += size);
    }
  }
  if (kind == 3) mask.prefix_tree = any_tree(7);
  if (kind != 0) mask.window = *rc::gen::inRange<int64_t>(0, 12);
  return mask;
}

// The definition in mask.h, pair by pair.
inline bool sees(const Mask& mask, int64_t query, int64_t key) {
  const auto within = [&](int64_t distance) { return distance >= 0 && (mask.window == 0 || distance < mask.window); };
  if (mask.prefix_tree.empty()) {
    if (!mask.document_offsets.empty()) {
      bool together = false;
      for (size_t d = 0; d + 1 < mask.document_offsets.size(); ++d) {
        const auto inside = [&](int64_t at) { return at >= mask.document_offsets[d] && at < mask.document_offsets[d + 1]; };
        together = together || (inside(query) && inside(key));
      }
      if (!together) return false;
    }
    return mask.kind == Mask::Kind::full || within(query - key);
  }
  const auto node_of = [&](int64_t at) {
    for (size_t i = 0; i < mask.prefix_tree.size(); ++i) {
      if (at >= mask.prefix_tree[i].start && at < mask.prefix_tree[i].start + mask.prefix_tree[i].length) return static_cast<int>(i);
    }
    return -1;
  };
  const int own = node_of(query), other = node_of(key);
  if (own < 0 || other < 0) return false;
  int64_t before = 0;  // path tokens from the start of `node` to the start of the query's node
  for (int node = own; node >= 0; node = mask.prefix_tree[static_cast<size_t>(node)].parent) {
    const PrefixNode& place = mask.prefix_tree[static_cast<size_t>(node)];
    if (node != own) before += place.length;
    if (node == other) return within(before + query - mask.prefix_tree[static_cast<size_t>(own)].start - (key - place.start));
  }
  return false;
}

}  // namespace ringwright::layout

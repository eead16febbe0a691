// What `ringwright layout` answers: from options, a recipe and a model's config.json to a layout over a stream and its figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/layout/summary.h"
#include "shared/layout/traffic.h"

namespace ringwright::cli {

struct LayoutOptions {
  std::vector<std::string> words;  // a recipe and its overrides
  std::optional<std::string> layout;
  std::optional<int> cp;
  std::optional<int64_t> length;
  std::string documents;    // lengths of packed documents: "300,1200,50"; "": none
  std::string prefix_tree;  // nodes, "LENGTH" or "LENGTH:PARENT": "4,2:0,3:0"; "": none
  int64_t window = 0;
  bool full = false;
  std::optional<int64_t> pad_multiple, document_multiple;
  std::optional<int64_t> chunk;
  std::optional<std::string> model;  // folder with config.json
  std::optional<int64_t> heads, kv_heads, head_size, element_bytes;
};

struct MethodTraffic {
  std::string method;
  std::optional<std::vector<layout::RankTraffic>> ranks;  // empty: the method cannot work with these heads
};

struct LayoutReport {
  layout::Summary summary = {};
  std::string chosen_by = {};  // why this layout: "--layout", "the recipe", "the family llama, for packed documents", "cp and documents"
  std::string drawn = {};      // which microbatch of the recipe: "one of 2 rows of 512 tokens"; "": a stream that options ask for
  int64_t document_multiple = 1;
  layout::AttentionShape shape = {};
  std::string shape_by = {};  // whose it is: "the model of DIR", "--heads"; "assumed, ..." where nobody said
  int64_t layers = 1;
  std::vector<MethodTraffic> traffic = {};  // of one layer
  std::vector<std::string> notes = {};      // what the reader should know besides
};

// Throws Error RW-CLI-010 (something is not known), RW-CLI-011 (several recipes), RW-CLI-012 (the family has no flavour for this), RW-CLI-013
// (options that exclude each other, a tree that does not parse), and what recipe, --model and shared/layout throw. Of a recipe its
// longest microbatch is laid out, with the heads of the model that it names where that is at hand.
LayoutReport report_layout(const LayoutOptions& options);

}  // namespace ringwright::cli

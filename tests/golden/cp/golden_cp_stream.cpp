// magi and mamba: masks as rectangles, document lengths, the orders around a scan.
#include "shared/layout/mamba.h"
#include "shared/layout/mask.h"
#include "shared/layout/stream.h"
#include "tests/golden/cp/golden_cp.h"

namespace ringwright::golden {
namespace {

using nlohmann::json;
using Lengths = std::vector<int64_t>;

json slices_of(const layout::Mask& mask, int64_t length) {
  json queries = json::array(), keys = json::array(), types = json::array();
  for (const layout::MaskBlock& block : layout::mask_blocks(mask, length)) {
    queries.push_back({block.query_start, block.query_start + block.query_length});
    keys.push_back({block.key_start, block.key_start + block.key_length});
    types.push_back(block.causal ? "causal" : "full");
  }
  return {{"q_ranges", queries}, {"k_ranges", keys}, {"types", types}, {"total", length}};
}

Lengths offsets_or_none(const json& input, const char* key) { return input.at(key).is_null() ? Lengths{} : input.at(key).get<Lengths>(); }

using PlainOrder = Lengths (*)(const layout::Layout&, int64_t);
using PackedOrder = Lengths (*)(const Lengths&, int);

// One sequence, or documents that have been brought together already.
void expect_order(const json& golden, PlainOrder plain, PackedOrder packed) {
  const json& input = golden.at("input");
  const int cp = golden.at("params").at("cp");
  Lengths order;
  if (input.contains("cu_seqlens_global")) {
    order = packed(input.at("cu_seqlens_global").get<Lengths>(), cp);
  } else {
    order = plain(*layout::make_layout("round_robin", cp), golden.at("params").at("L"));
  }
  expect_equal("order", order, golden.at("expect").at("order"));
}

}  // namespace

void check_attn_slices(const json& golden) {
  const std::string what = golden.at("params").at("what");
  const int64_t total = golden.at("expect").at("total");
  layout::Mask mask;
  if (what == "varlen") {  // the documents are named by the outcome alone
    mask.document_offsets = {0};
    for (const json& range : golden.at("expect").at("q_ranges")) mask.document_offsets.push_back(range.at(1).get<int64_t>());
  } else {
    expect_equal("what", what, "causal5");
  }
  expect_equal("slices", slices_of(mask, total), golden.at("expect"));
}

void check_attn_slices_prefix_tree(const json& golden) {
  const json& input = golden.at("input");
  const auto lengths = input.at("node_lengths").get<Lengths>();
  const auto paths = input.at("sample_paths").get<std::vector<std::vector<int>>>();
  int64_t total = 0;
  Lengths starts;
  for (int64_t length : lengths) {
    starts.push_back(total);
    total += length;
  }
  json got = slices_of({.prefix_tree = layout::prefix_tree_of(lengths, paths)}, total);
  json ranges = json::array();
  for (const std::vector<int>& path : paths) {
    json own = json::array();
    for (int node : path) own.push_back({starts[static_cast<size_t>(node)], starts[static_cast<size_t>(node)] + lengths[static_cast<size_t>(node)]});
    ranges.push_back(own);
  }
  got["sample_token_ranges"] = ranges;
  expect_equal("slices", got, golden.at("expect"));
}

void check_magi_doc_lengths(const json& golden) {
  const json &input = golden.at("input"), &expect = golden.at("expect");
  const auto lengths = [&] {
    return layout::document_lengths(offsets_or_none(input, "cu_seqlens"), offsets_or_none(input, "cu_seqlens_padded"),
                                    golden.at("params").at("total"));
  };
  if (expect.contains("error")) return expect_error(expect.at("error"), {.bad_argument = {"RW-STREAM-"}}, lengths);
  expect_equal("value", lengths(), expect.at("value"));
}

void check_mamba_undo(const json& golden) { expect_order(golden, layout::undo_order, layout::document_undo_order); }
void check_mamba_redo(const json& golden) { expect_order(golden, layout::redo_order, layout::document_redo_order); }
void check_mamba_deinterleave(const json& golden) { expect_order(golden, nullptr, layout::deinterleave_order); }
void check_mamba_reinterleave(const json& golden) { expect_order(golden, nullptr, layout::reinterleave_order); }

}  // namespace ringwright::golden

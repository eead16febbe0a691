// index_maps, and the partitions of thd.
#include <fmt/format.h>

#include "shared/layout/layout.h"
#include "tests/golden/cp/golden_cp.h"
#include "tests/golden/golden_cases.h"

namespace ringwright::golden {
namespace {

void expect_maps(const layout::Layout& layout, int64_t length, const nlohmann::json& per_rank) {
  expect_equal("ranks", layout.cp(), per_rank.size());
  for (int rank = 0; rank < layout.cp(); ++rank) {
    const std::vector<int64_t> map = layout.local_token_global_indices(length, rank);
    const nlohmann::json got = {{"dtype", "int64"}, {"shape", {map.size()}}, {"data", map}};
    expect_equal(fmt::format("rank {}", rank), got, per_rank.at(static_cast<size_t>(rank)));
  }
}

}  // namespace

void check_local_token_global_indices(const nlohmann::json& golden) {
  const nlohmann::json& params = golden.at("params");
  const std::string name = params.at("layout");
  const auto layout = layout::make_layout(name == "identity" ? "none" : name, params.at("cp"));
  const int64_t length = params.at("padded_seq_len");
  const nlohmann::json& expect = golden.at("expect");
  if (expect.contains("error"))
    return expect_error(expect.at("error"), {.bad_argument = {"RW-LAYOUT-001"}}, [&] { layout->local_token_global_indices(length, 0); });
  expect_maps(*layout, length, expect.at("per_rank"));
}

void check_thd_partition(const nlohmann::json& golden) {
  const nlohmann::json& params = golden.at("params");
  const nlohmann::json& expect = golden.at("expect");
  const auto make = [&] {
    return layout::make_layout("thd", params.at("cp"), {.document_offsets = golden.at("input").at("cu_seqlens_padded").get<std::vector<int64_t>>()});
  };
  const int64_t length = params.at("total_tokens");
  if (expect.contains("error"))
    return expect_error(expect.at("error"), {.bad_argument = {"RW-LAYOUT-001", "RW-LAYOUT-008", "RW-LAYOUT-009"}},
                        [&] { make()->local_token_global_indices(length, 0); });
  expect_maps(*make(), length, expect.at("per_rank"));
}

}  // namespace ringwright::golden

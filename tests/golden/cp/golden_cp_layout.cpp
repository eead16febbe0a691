#include <fmt/format.h>

#include "shared/base/error.h"
#include "shared/layout/layout.h"
#include "tests/golden/cp/golden_cp.h"
#include "tests/golden/golden_cases.h"

namespace ringwright::golden {

void check_local_token_global_indices(const nlohmann::json& golden) {
  const nlohmann::json& params = golden.at("params");
  const std::string name = params.at("layout");
  const int cp = params.at("cp");
  const int64_t length = params.at("padded_seq_len");
  const auto layout = layout::make_layout(name == "identity" ? "none" : name, cp);
  const nlohmann::json& expect = golden.at("expect");
  if (expect.contains("error")) {
    try {
      layout->local_token_global_indices(length, 0);
    } catch (const Error& error) {
      return;  // a bad argument, whatever its words
    }
    throw Mismatch("accepted, expected a refusal");
  }
  expect_equal("ranks", cp, expect.at("per_rank").size());
  for (int rank = 0; rank < cp; ++rank) {
    const std::vector<int64_t> map = layout->local_token_global_indices(length, rank);
    const nlohmann::json got = {{"dtype", "int64"}, {"shape", {map.size()}}, {"data", map}};
    expect_equal(fmt::format("rank {}", rank), got, expect.at("per_rank").at(static_cast<size_t>(rank)));
  }
}

}  // namespace ringwright::golden

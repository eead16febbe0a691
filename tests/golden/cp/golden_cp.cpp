// Runs every case of every file in goldens/cp. An operation that is not in the table counts as failed.
#include "tests/golden/cp/golden_cp.h"

#include <algorithm>

#include "tests/golden/golden_cases.h"

namespace {

using ringwright::golden::Report;

struct Operation {
  const char* name;
  void (*check)(const nlohmann::json&);
};

constexpr Operation kOperations[] = {
    {"local_token_global_indices", ringwright::golden::check_local_token_global_indices},
    {"build_mesh", ringwright::golden::check_build_mesh},
    {"mesh_sweep", ringwright::golden::check_mesh_sweep},
};

void run_golden(Report& report, const nlohmann::json& golden) {
  const std::string op = golden.at("op");
  const std::string id = golden.at("id");
  const auto known = std::find_if(std::begin(kOperations), std::end(kOperations), [&](const Operation& row) { return op == row.name; });
  if (known == std::end(kOperations)) {
    report.check(op, false, id, "an operation that this program does not know");
  } else {
    ringwright::golden::run_case(report, op, id, [&] { known->check(golden); });
  }
}

}  // namespace

int main() {
  Report report;
  for (const auto& file : ringwright::golden::golden_entries("cp")) {
    if (file.extension() != ".json") continue;
    try {
      const nlohmann::json family = ringwright::golden::read_json(file);
      ringwright::golden::expect_equal("schema", family.at("schema"), 1);
      for (const nlohmann::json& golden : family.at("cases")) run_golden(report, golden);
    } catch (const std::exception& error) {
      report.check("file", false, file.filename(), error.what());
    }
  }
  return report.finish();
}

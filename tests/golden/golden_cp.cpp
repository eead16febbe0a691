// Runs every case of every file in goldens/cp. An operation that is not in the table counts as failed.
#include "tests/golden/golden_cp.h"

#include <algorithm>
#include <vector>

#include "tests/golden/report.h"

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

void run_case(Report& report, const nlohmann::json& golden) {
  const std::string op = golden.at("op");
  const std::string id = golden.at("id");
  const auto known = std::find_if(std::begin(kOperations), std::end(kOperations), [&](const Operation& row) { return op == row.name; });
  if (known == std::end(kOperations)) {
    report.fail(op, id, "an operation that this program does not know");
  } else {
    report.run(op, id, [&] { known->check(golden); });
  }
}

}  // namespace

int main() {
  Report report;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ringwright::golden::folder("cp"))) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    try {
      const nlohmann::json family = ringwright::golden::read_json(file);
      ringwright::golden::expect_equal("schema", family.at("schema"), 1);
      for (const nlohmann::json& golden : family.at("cases")) run_case(report, golden);
    } catch (const std::exception& error) {
      report.fail("file", file.filename(), error.what());
    }
  }
  return report.finish();
}

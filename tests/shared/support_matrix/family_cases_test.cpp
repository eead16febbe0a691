// Every family of the table over two context ranks: tests/cases/families.yaml says what each target says of it.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "shared/support_matrix/families.h"
#include "shared/support_matrix/support_matrix.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::support_matrix {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = fs::path(RINGWRIGHT_SOURCE_DIR) / "tests/cases";

const Finding* find(const std::vector<Finding>& findings, const std::string& code) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.code == code; });
  return found == findings.end() ? nullptr : &*found;
}

// A recipe over two context ranks whose model is of the type, and says nothing else of itself.
std::vector<Finding> check_family(const fs::path& folder, const std::string& model_type) {
  fs::create_directories(folder / "model");
  fs::copy_file(kCases / "guards/base/recipe.yaml", folder / "recipe.yaml", fs::copy_options::overwrite_existing);
  std::ofstream(folder / "model/config.json") << "{\"model_type\": \"" << model_type << "\"}";
  CheckOptions options;
  options.machine = Machine{.host = "node", .host_address = "10.0.0.1", .interfaces = {"lo"}, .gloo_interface = ""};
  return check(recipe::load_recipe(folder / "recipe.yaml", {"policy.dtensor_cfg.context_parallel_size=2", "cluster.gpus_per_node=2"}), options);
}

TEST(FamilyCases, EachTargetSaysOfEachFamilyWhatTheTableSays) {
  const test::TemporaryFolder folder;
  for (const YAML::Node& item : YAML::LoadFile((kCases / "families.yaml").string())) {
    const auto model_type = item["model_type"].as<std::string>();
    SCOPED_TRACE(model_type);
    const std::vector<Finding> findings = check_family(folder.path(), model_type);
    const Finding* family = find(findings, "RW-GUARD-230");
    ASSERT_NE(family, nullptr);
    EXPECT_NE(family->reason.find(model_type), std::string::npos) << family->reason;
    for (size_t target = 0; target < kTargetNames.size(); ++target)
      EXPECT_EQ(to_string(family->verdicts[target]), item["cp2"][target].as<std::string>()) << kTargetNames[target];
    EXPECT_EQ(find(findings, "RW-GUARD-231") != nullptr, item["declares_no"].as<bool>());
  }
}

TEST(FamilyCases, EveryEntryOfTheTableHasACase) {
  std::set<std::string> cases, missing;
  for (const YAML::Node& item : YAML::LoadFile((kCases / "families.yaml").string())) {
    EXPECT_TRUE(cases.insert(item["model_type"].as<std::string>()).second) << item["model_type"] << " is there twice";
  }
  for (const Family& family : families()) {
    std::istringstream words{std::string(family.model_types)};
    for (std::string word; words >> word;)
      if (!cases.contains(word)) missing.insert(word);
  }
  EXPECT_EQ(missing, std::set<std::string>());
  EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [](const std::string& each) { return !find_family(each); })) << "any other family";
}

}  // namespace
}  // namespace ringwright::support_matrix

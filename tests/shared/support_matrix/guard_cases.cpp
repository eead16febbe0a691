// Runs every case of tests/cases/guards/*.yaml. A file is a list of cases:
//
//   - name: what it shows
//     change: {policy.precision: bfloat16, ...}   laid over the base recipe of base.yaml, key by key; null removes a key
//                                                 {folder} in a value: where the recipe lies
//     map_megatron: true                          as with --map megatron
//     machine: {host: a, address: 10.0.0.5, interfaces: [lo], variable: eth0}   in place of this machine; variable: GLOO_SOCKET_IFNAME
//     recipe: vlm/a.yaml                          the recipe's file below the case's folder; recipe.yaml where it is not given
//     files: {model/config.json: "text"}          written beside the recipe
//     fires: {RW-GUARD-150: [supported, supported, not_yet]}   rows that must be there, with the verdicts of the three targets
//     silent: [RW-GUARD-151]                      rows that must not
//     key: policy.precision                       the key that the first row of `fires` names
//     says: [bfloat16]                            what its reason or its fix must hold
//
// And: every row of the table fires in one case and is named silent in another.
#include <gtest/gtest.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "shared/support_matrix/support_matrix.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::support_matrix {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(RINGWRIGHT_SOURCE_DIR) / "tests/cases/guards";

std::set<std::string>& fired() {
  static std::set<std::string> codes;
  return codes;
}

std::set<std::string>& silent() {
  static std::set<std::string> codes;
  return codes;
}

std::vector<std::string> overrides_of(const YAML::Node& change, const std::string& folder) {
  std::vector<std::string> overrides;
  for (const auto& item : change) {
    const auto key = item.first.as<std::string>();
    auto value = item.second.IsNull() ? "" : item.second.as<std::string>();
    if (const size_t place = value.find("{folder}"); place != std::string::npos) value.replace(place, 8, folder);
    overrides.push_back(item.second.IsNull() ? "~" + key : "++" + key + "=" + value);
  }
  return overrides;
}

const Finding* find(const std::vector<Finding>& findings, const std::string& code) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.code == code; });
  return found == findings.end() ? nullptr : &*found;
}

void expect_verdicts(const Finding& finding, const YAML::Node& verdicts) {
  for (size_t target = 0; target < kTargetNames.size(); ++target)
    EXPECT_EQ(to_string(finding.verdicts[target]), verdicts[target].as<std::string>()) << finding.code << " for " << kTargetNames[target];
}

void expect_first(const Finding& finding, const YAML::Node& item) {
  if (item["key"]) {
    EXPECT_EQ(finding.key, item["key"].as<std::string>());
  }
  for (const YAML::Node& fragment : item["says"])
    EXPECT_NE((finding.reason + " | " + finding.fix).find(fragment.as<std::string>()), std::string::npos) << finding.reason << " | " << finding.fix;
  if (std::any_of(finding.verdicts.begin(), finding.verdicts.end(), stops)) {
    EXPECT_FALSE(finding.fix.empty()) << finding.code << " stops the recipe and names no way out";
  }
}

CheckOptions options_of(const YAML::Node& item) {
  CheckOptions options;
  options.map_megatron = item["map_megatron"] && item["map_megatron"].as<bool>();
  Machine machine;  // one where nothing is wrong
  machine.host = "node", machine.host_address = "10.0.0.1", machine.interfaces = {"eth0", "lo"};
  if (const YAML::Node& given = item["machine"]) {
    machine.host = given["host"].as<std::string>("node"), machine.host_address = given["address"].as<std::string>();
    machine.loopback = machine.host_address.starts_with("127.");
    machine.interfaces = given["interfaces"].as<std::vector<std::string>>();
    machine.gloo_interface = given["variable"].as<std::string>("");
  }
  options.machine = machine;
  return options;
}

void run_case(const YAML::Node& item) {
  const test::TemporaryFolder folder;
  const fs::path file = folder / item["recipe"].as<std::string>("recipe.yaml");
  fs::create_directories(file.parent_path());
  fs::copy_file(kFolder / "base" / "recipe.yaml", file);
  for (const auto& file : item["files"]) {
    const fs::path target = folder / file.first.as<std::string>();
    fs::create_directories(target.parent_path());
    std::ofstream(target) << file.second.as<std::string>();
  }
  const auto recipe = recipe::load_recipe(file, overrides_of(item["change"], folder.path().string()));
  const std::vector<Finding> findings = check(recipe, options_of(item));
  bool first = true;
  for (const auto& row : item["fires"]) {
    const auto code = row.first.as<std::string>();
    const Finding* finding = find(findings, code);
    ASSERT_NE(finding, nullptr) << code << " is silent";
    expect_verdicts(*finding, row.second);
    if (first) expect_first(*finding, item);
    first = false;
    fired().insert(item["row"] ? item["row"].as<std::string>() : code);
  }
  for (const YAML::Node& code : item["silent"]) {
    EXPECT_EQ(find(findings, code.as<std::string>()), nullptr) << code << " fires";
    silent().insert(code.as<std::string>());
  }
}

class GuardCase : public testing::Test {
 public:
  explicit GuardCase(YAML::Node item) : item_(std::move(item)) {}
  void TestBody() override { run_case(item_); }

 private:
  YAML::Node item_;
};

class EveryRow : public testing::Test {
 public:
  void TestBody() override {
    for (const RowText& row : rows()) {
      if (row.level == "run") continue;  // running_test.cpp
      EXPECT_TRUE(fired().contains(row.code)) << row.code << " (" << row.scope << ") fires in no case";
      EXPECT_TRUE(silent().contains(row.code)) << row.code << " (" << row.scope << ") is silent in no case";
    }
  }
};

void register_cases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    for (const YAML::Node& item : YAML::LoadFile(file.string()))
      testing::RegisterTest(("Guard_" + file.stem().string()).c_str(), item["name"].as<std::string>().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [item]() -> testing::Test* { return new GuardCase(item); });
  if (testing::GTEST_FLAG(filter) == "*")
    testing::RegisterTest("GuardTable", "every row has a good and a bad case", nullptr, nullptr, __FILE__, __LINE__,
                          []() -> testing::Test* { return new EveryRow; });
}

}  // namespace
}  // namespace ringwright::support_matrix

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ::setenv("HF_HOME", "/nonexistent", 1);
  ::setenv("RINGWRIGHT_CACHE", "/nonexistent", 1);
  ringwright::support_matrix::register_cases();
  return RUN_ALL_TESTS();
}

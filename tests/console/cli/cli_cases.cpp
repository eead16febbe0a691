// Runs every case of tests/cases/cli/*.yaml against the program `ringwright`. A file is a list of cases:
//
//   - name: what it shows
//     files: {recipe.yaml: "text"}         written into the case's own folder, which is the working directory
//     env: {NAME: value, OTHER: null}      on top of a clean environment; null unsets
//     args: [check, recipe.yaml]           {source}: the source tree, {case}: the case's folder
//     exit: 3                              or a list, where it depends on the machine
//     stdout: [fragment, ...]              all must be there, in this order
//     stderr: [fragment, ...]
//     stdout_lacks, stderr_lacks: [...]    none may be there
//     json: stdout                         the stream must hold exactly one JSON document
//
// XDG_* point into the case's folder. An empty list for stdout or stderr demands an empty stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace ringwright {
namespace {

namespace fs = std::filesystem;
using namespace test;

struct Case {
  std::string file;
  YAML::Node node;
};

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(RINGWRIGHT_SOURCE_DIR) / "tests/cases/cli"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    for (const YAML::Node& node : YAML::LoadFile(file.string())) cases.push_back({file.stem().string(), node});
  return cases;
}

std::string expand(std::string text, const fs::path& folder) {
  const std::map<std::string, std::string> names = {{"{source}", RINGWRIGHT_SOURCE_DIR}, {"{case}", folder.string()}};
  for (const auto& [name, value] : names)
    for (size_t at; (at = text.find(name)) != std::string::npos;) text.replace(at, name.size(), value);
  return text;
}

std::vector<std::string> texts(const YAML::Node& list, const fs::path& folder) {
  std::vector<std::string> result;
  for (const YAML::Node& item : list) result.push_back(expand(item.as<std::string>(), folder));
  return result;
}

Environment environment(const YAML::Node& given, const fs::path& folder) {
  Environment variables = clean_environment(folder);
  for (const auto& item : given) {
    if (item.second.IsNull())
      variables.erase(item.first.as<std::string>());
    else
      variables[item.first.as<std::string>()] = expand(item.second.as<std::string>(), folder);
  }
  return variables;
}

void expect_fragments(const std::string& text, const YAML::Node& wanted, const char* stream, const fs::path& folder) {
  if (wanted && wanted.size() == 0) {
    EXPECT_EQ(text, "") << stream << " must be empty";
  }
  size_t from = 0;
  for (const std::string& fragment : texts(wanted, folder)) {
    const size_t at = text.find(fragment, from);
    EXPECT_NE(at, std::string::npos) << stream << " lacks (in this order): " << fragment << "\n--- " << stream << "\n" << text;
    if (at != std::string::npos) from = at + fragment.size();
  }
}

void expect_lacks(const std::string& text, const YAML::Node& unwanted, const char* stream, const fs::path& folder) {
  for (const std::string& fragment : texts(unwanted, folder))
    EXPECT_EQ(text.find(fragment), std::string::npos) << stream << " holds: " << fragment << "\n--- " << stream << "\n" << text;
}

std::vector<int> exit_codes(const YAML::Node& wanted) {
  return wanted.IsSequence() ? wanted.as<std::vector<int>>() : std::vector<int>{wanted.as<int>()};
}

void run_case(const Case& item) {
  const TemporaryFolder own;
  const fs::path& folder = own.path();
  for (const auto& file : item.node["files"]) {
    const fs::path target = folder / file.first.as<std::string>();
    fs::create_directories(target.parent_path());
    std::ofstream(target, std::ios::binary) << file.second.as<std::string>();
  }
  const Outcome outcome = Program(folder, texts(item.node["args"], folder), "ringwright", environment(item.node["env"], folder)).wait();
  EXPECT_THAT(exit_codes(item.node["exit"]), testing::Contains(outcome.exit_code)) << "--- stdout\n" << outcome.out << "--- stderr\n" << outcome.err;
  expect_fragments(outcome.out, item.node["stdout"], "stdout", folder);
  expect_fragments(outcome.err, item.node["stderr"], "stderr", folder);
  expect_lacks(outcome.out, item.node["stdout_lacks"], "stdout", folder);
  expect_lacks(outcome.err, item.node["stderr_lacks"], "stderr", folder);
  if (const YAML::Node json = item.node["json"]) {
    EXPECT_TRUE(nlohmann::json::accept(json.as<std::string>() == "stderr" ? outcome.err : outcome.out)) << outcome.out << outcome.err;
  }
}

class CliCase : public testing::Test {
 public:
  explicit CliCase(Case item) : item_(std::move(item)) {}
  void TestBody() override { run_case(item_); }

 private:
  Case item_;
};

}  // namespace
}  // namespace ringwright

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const auto& item : ringwright::read_cases())
    testing::RegisterTest(("Cli_" + item.file).c_str(), item.node["name"].as<std::string>().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [item]() -> testing::Test* { return new ringwright::CliCase(item); });
  return RUN_ALL_TESTS();
}

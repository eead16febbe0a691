// Every line of tests/cases/recipes/expected.jsonl and every case of overrides.json: what we make of a recipe against what upstream's loader makes of
// it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "shared/base/error.h"
#include "shared/recipe/recipe.h"

namespace ringwright::recipe {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const fs::path kFolder = fs::path(RINGWRIGHT_SOURCE_DIR) / "tests/cases/recipes";

// nlohmann reads integers beyond 64 bits as floats; here they become {"$int": digits}, as the recipe library has them. {"$float": "nan"} becomes the
// float.
class ExactReader : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;
  using Base::Base;
  bool number_float(double value, const std::string& written) {
    if (written.find_first_not_of("-0123456789") != std::string::npos) return Base::number_float(value, written);
    std::string digits = written;
    return start_object(1) && key_of("$int") && string(digits) && end_object();
  }

 private:
  bool key_of(std::string name) { return key(name); }
};

Json read_exactly(const std::string& text) {
  Json value;
  ExactReader reader(value);
  if (!Json::sax_parse(text, &reader)) throw std::runtime_error("bad test data: " + text.substr(0, 80));
  return value;
}

// Equal in kind and value: 2 is not 2.0. Maps compare without order.
bool equal(const Json& ours, const Json& theirs) {
  if (theirs.is_object() && theirs.size() == 1 && theirs.contains("$float")) {
    if (!ours.is_number_float()) return false;
    const std::string word = theirs["$float"];
    return word == "nan" ? std::isnan(ours.get<double>()) : std::isinf(ours.get<double>()) && (ours.get<double>() > 0) == (word == "inf");
  }
  if (ours.is_number() && theirs.is_number())
    return ours.is_number_float() == theirs.is_number_float() && ours == theirs &&
           (!ours.is_number_float() || std::signbit(ours.get<double>()) == std::signbit(theirs.get<double>()));
  if (ours.type() != theirs.type()) return false;
  if (ours.is_array()) return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), equal);
  if (!ours.is_object()) return ours == theirs;
  if (ours.size() != theirs.size()) return false;
  for (const auto& [key, value] : theirs.items())
    if (!ours.contains(key) || !equal(ours[key], value)) return false;
  return true;
}

// Interpolation has codes of its own; everything before it is reading, merging, overriding.
std::string stage_of(const Error& error) {
  const std::set<std::string> resolving = {"RW-RECIPE-009", "RW-RECIPE-010", "RW-RECIPE-011"};
  return resolving.contains(error.parts().code) ? "resolve" : "load";
}

void expect_case(const Json& expected) {
  const fs::path file = kFolder / expected["recipe"].get<std::string>();
  try {
    const Recipe recipe = load_recipe(file);
    ASSERT_TRUE(expected.contains("resolved")) << "accepted, upstream refuses with " << expected["error"] << "\n" << recipe.resolved.dump();
    EXPECT_TRUE(equal(recipe.resolved, expected["resolved"])) << "ours:   " << recipe.resolved.dump() << "\ntheirs: " << expected["resolved"].dump();
  } catch (const Error& error) {
    ASSERT_FALSE(expected.contains("resolved")) << describe(error.parts());
    EXPECT_EQ(stage_of(error), expected["stage"].get<std::string>()) << describe(error.parts());
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_NE(error.parts().where.find(".yaml"), std::string::npos) << describe(error.parts());
  }
}

// Dotted path -> leaf. Lists are leaves, as in overrides.json.
void flatten(const Json& value, const std::string& path, std::map<std::string, Json>& leaves) {
  if (!value.is_object() || value.empty()) {
    leaves[path] = value;
    return;
  }
  for (const auto& [key, child] : value.items()) flatten(child, path.empty() ? key : path + "." + key, leaves);
}

std::map<std::string, Json> leaves_of(const Json& resolved) {
  std::map<std::string, Json> leaves;
  flatten(resolved, "", leaves);
  return leaves;
}

void expect_override(const Json& item) {
  const fs::path file = kFolder / item["recipe"].get<std::string>();
  const auto overrides = item["overrides"].get<std::vector<std::string>>();
  std::map<std::string, Json> before = leaves_of(load_recipe(file).resolved), after;
  try {
    after = leaves_of(load_recipe(file, overrides).resolved);
    ASSERT_TRUE(item.contains("changed")) << "accepted, upstream refuses with " << item["error"];
  } catch (const Error& error) {
    ASSERT_FALSE(item.contains("changed")) << describe(error.parts());
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return;
  }
  for (const auto& [path, value] : item["changed"].items()) {
    ASSERT_TRUE(after.contains(path)) << path;
    EXPECT_TRUE(equal(after[path], value)) << path << ": ours " << after[path].dump() << ", theirs " << value.dump();
    before[path] = after[path];
  }
  for (const auto& path : item["removed"]) {
    EXPECT_FALSE(after.contains(path)) << path;
    before.erase(path);
  }
  for (const auto& [path, value] : after)
    EXPECT_TRUE(before.contains(path) && equal(value, before[path])) << "also changed: " << path << " " << value.dump();
}

class DataCase : public testing::Test {
 public:
  DataCase(Json item, void (*check)(const Json&)) : item_(std::move(item)), check_(check) {}
  void TestBody() override { check_(item_); }

 private:
  Json item_;
  void (*check_)(const Json&);
};

void add(const char* suite, const std::string& name, const Json& item, void (*check)(const Json&)) {
  testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__, [=]() -> testing::Test* { return new DataCase(item, check); });
}

void register_cases() {
  std::ifstream lines(kFolder / "expected.jsonl");
  for (std::string line; std::getline(lines, line);) {
    const Json item = read_exactly(line);
    add("RecipeCase", item["recipe"], item, expect_case);
  }
  std::ifstream overrides(kFolder / "overrides.json");
  const std::string text{std::istreambuf_iterator<char>(overrides), {}};
  for (const Json& item : read_exactly(text)) add("OverrideCase", item["name"], item, expect_override);
}

}  // namespace
}  // namespace ringwright::recipe

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ::setenv("RW_RECIPE_TEST", "from the environment", 1);
  ::setenv("RW_RECIPE_NUMBER", "0.25", 1);
  ::unsetenv("RW_RECIPE_UNSET");
  ringwright::recipe::register_cases();
  const int result = RUN_ALL_TESTS();
  const auto& unit = *testing::UnitTest::GetInstance();
  std::printf("%d passed, %d failed\n", unit.successful_test_count(), unit.failed_test_count());
  return result;
}

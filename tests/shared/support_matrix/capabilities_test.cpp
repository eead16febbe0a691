// The column `ringwright` says what the capability table says, and the table says only what a test proves.
#include "shared/support_matrix/capabilities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "shared/model/families.h"
#include "shared/support_matrix/rows.h"

namespace ringwright::support_matrix {
namespace {

std::vector<const Row*> all_rows() {
  std::vector<const Row*> rows;
  for (const Tables* tables : {&recipe_tables(), &file_tables()})
    for (const Rows* table : *tables)
      for (const Row& row : *table) rows.push_back(&row);
  return rows;
}

std::string text_of(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Whether a proof is there: a test by its suite and name, a case by its name, a golden by its folder.
bool is_there(std::string_view proof) {
  const size_t colon = proof.find(':');
  if (colon == proof.npos || !proof.starts_with("tests/")) return false;
  const std::filesystem::path place = std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / proof.substr(0, colon);
  const std::string name(proof.substr(colon + 1));
  if (std::filesystem::is_directory(place)) return std::filesystem::exists(place / name / "golden.json");
  if (place.extension() == ".yaml") return text_of(place).find("- name: \"" + name + "\"\n") != std::string::npos;
  const size_t dot = name.find('.');
  const std::string text = text_of(place), test = "TEST(" + name.substr(0, dot) + ", " + name.substr(dot + 1);
  for (const std::string& written : {test, "TEST_F" + test.substr(4), "TEST_P" + test.substr(4)})
    for (const char after : {')', ','})
      if (text.find(written + after) != std::string::npos) return true;
  return false;
}

TEST(Capabilities, EachHasATestThatProvesIt) {
  for (const Capability& each : capabilities()) EXPECT_TRUE(is_there(each.proof)) << each.name << ": " << each.proof;
  for (const char* no_proof : {"tests/cases/guards", "tests/cases/guards/model.yaml:no such case", "tests/shared/mesh/mesh_test.cpp:Mesh.NoSuchTest",
                               "tests/goldens/models:no-such-model", "shared/mesh/mesh.cpp:build_mesh"})
    EXPECT_FALSE(is_there(no_proof)) << no_proof;
}

TEST(Capabilities, EachIsThereOnceAndARowAsksForIt) {
  std::set<std::string_view> asked;
  for (const Row* row : all_rows()) asked.insert(row->ours.capability);
  std::set<std::string_view> names;
  for (const Capability& each : capabilities()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name << " is there twice";
    const bool by_family = each.name.starts_with("family.");
    EXPECT_TRUE(by_family || asked.contains(each.name)) << each.name << " is asked for by no row";
  }
}

TEST(Capabilities, WhatIsNotInTheTableIsNotYet) {
  EXPECT_EQ(capability("something.nobody.built"), Verdict::not_yet);
  for (const Capability& each : capabilities()) EXPECT_FALSE(stops(each.verdict)) << each.name;
}

TEST(Capabilities, NoRowSaysSupportedOfItself) {
  for (const Row* row : all_rows()) {
    if (!row->ours.capability.empty()) continue;
    EXPECT_TRUE(row->ours.fixed == Verdict::refused || row->ours.fixed == Verdict::skipped || row->ours.fixed == Verdict::not_applicable)
        << row->code;
  }
}

TEST(Capabilities, ARowThatStopsSomebodyNamesTheWayOut) {
  for (const Row* row : all_rows()) {
    const Verdicts verdicts = printed_verdicts(*row);
    if (std::none_of(verdicts.begin(), verdicts.end(), stops)) continue;
    EXPECT_TRUE(!row->fix.words.empty() || !row->fix.changes.empty()) << row->code;
  }
}

TEST(Capabilities, FamiliesAreThoseThatTheModelsHave) {
  std::set<std::string> families;
  for (const Capability& each : capabilities())
    if (each.name.starts_with("family.")) families.insert(std::string(each.name.substr(7)));
  EXPECT_EQ(families, std::set<std::string>(model::family_names().begin(), model::family_names().end()));
}

TEST(Capabilities, CodesAreThereOnceAndConditionsHaveWords) {
  std::set<std::string> codes;
  for (const RowText& row : rows()) {
    EXPECT_TRUE(codes.insert(row.code).second) << row.code << " is there twice";
    EXPECT_FALSE(row.condition.empty()) << row.code;
    EXPECT_FALSE(row.scope.empty()) << row.code;
  }
}

}  // namespace
}  // namespace ringwright::support_matrix

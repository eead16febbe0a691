// The program `ringwright` in a folder of its own, which holds its history, settings, sockets and cache.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::cli {

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    std::filesystem::create_directory(folder_ / "ringwright");
    std::filesystem::permissions(folder_ / "ringwright", std::filesystem::perms::owner_all);  // the sockets' folder, too
  }
  std::filesystem::path store() const { return folder_ / "ringwright/history.db"; }
  test::Outcome ringwright(std::vector<std::string> arguments) { return test::call(folder_.path(), std::move(arguments)); }
  // What it prints when all is well.
  std::string good(std::vector<std::string> arguments) {
    const test::Outcome outcome = ringwright(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  nlohmann::json json_of(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    return nlohmann::json::parse(good(std::move(arguments)), nullptr, false);
  }

  test::TemporaryFolder folder_;
};

}  // namespace ringwright::cli

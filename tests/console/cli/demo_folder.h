// A folder with what the demo's recipes ask for, and the program `ringwright` in it.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/console/cli/program_test.h"

namespace ringwright::cli {

class DemoTest : public ProgramTest {
 protected:
  // The text that is trained on: `lines` times what `line` gives.
  template <class Line>
  void write_text(int lines, Line line) {
    std::string text;
    for (int i = 0; i < lines; ++i) text.append(line(i)).append("\n");
    folder_.write("ringwright/data/kjv.txt", text);
    std::filesystem::create_directories(model());
    for (const char* file : {"config.json", "tokenizer.json"})
      std::filesystem::copy(std::string(RINGWRIGHT_SOURCE_DIR) + "/assets/models/demo/" + file, model() / file);
  }

  std::filesystem::path model() const { return folder_ / "ringwright/models/demo"; }
  // `ringwright run` with one of the recipes in assets/recipes.
  static std::vector<std::string> run_arguments(const std::string& recipe, std::vector<std::string> more) {
    more.insert(more.begin(), {"run", std::string(RINGWRIGHT_SOURCE_DIR) + "/assets/recipes/" + recipe});
    return more;
  }
  nlohmann::json shown(const std::string& run) { return json_of({"runs", "show", run}); }
};

}  // namespace ringwright::cli

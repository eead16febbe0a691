// A folder with what the demo's recipes ask for, and the program `ringwright` in it.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shared/model/parameters.h"
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

  // The model's weights, all 0, for runs whose workers load none.
  void write_weights() {
    nlohmann::json header;
    uint64_t end = 0;
    for (const model::ParameterSpec& parameter : model::parameter_specs(model::read_model_config(model()))) {
      const uint64_t begin = end;
      uint64_t bytes = 4;
      for (const int64_t size : parameter.shape) bytes *= static_cast<uint64_t>(size);
      end += bytes;
      header[parameter.name] = {{"dtype", "F32"}, {"shape", parameter.shape}, {"data_offsets", {begin, end}}};
    }
    const std::string text = header.dump();
    std::string start(8, '\0');
    for (size_t i = 0; i < start.size(); ++i) start[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
    folder_.write("ringwright/models/demo/model.safetensors", start + text);
    std::filesystem::resize_file(model() / "model.safetensors", start.size() + text.size() + end);  // takes no room on the disk
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

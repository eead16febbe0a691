// encode_text --tokenizer FILE --text FILE [--ids]: encodes a text line by line on one thread and prints the rate in the words of the peer script, or
// with --ids one JSON line of ids and offsets for each line of text.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shared/base/error.h"
#include "shared/tokenizer/tokenizer.h"

namespace {

std::vector<std::string> read_lines(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void print_ids(const ringwright::tokenizer::Tokenizer& tokenizer, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const auto encoding = tokenizer.encode(line);
    std::printf("%s\n", nlohmann::json{{"ids", encoding.ids}, {"offsets", encoding.offsets}}.dump().c_str());
  }
}

void print_rate(const ringwright::tokenizer::Tokenizer& tokenizer, const std::vector<std::string>& lines) {
  size_t bytes = 0, tokens = 0;
  for (const std::string& line : lines) bytes += line.size();
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& line : lines) tokens += tokenizer.encode(line).ids.size();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const nlohmann::json result = {
      {"job", "tokenize"}, {"seconds", seconds}, {"mb_per_s", static_cast<double>(bytes) / seconds / 1e6}, {"tokens", tokens}};
  std::printf("%s\n", result.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::string tokenizer_file, text_file;
  bool ids = false;
  CLI::App app("Encode a text line by line");
  app.add_option("--tokenizer", tokenizer_file, "tokenizer.json")->required();
  app.add_option("--text", text_file, "UTF-8 text")->required()->check(CLI::ExistingFile);
  app.add_flag("--ids", ids, "print ids and offsets instead of the rate");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto tokenizer = ringwright::tokenizer::Tokenizer::from_file(tokenizer_file);
    const std::vector<std::string> lines = read_lines(text_file);
    ids ? print_ids(tokenizer, lines) : print_rate(tokenizer, lines);
    return 0;
  } catch (const ringwright::Error& error) {
    std::fprintf(stderr, "%s\n", ringwright::describe(error.parts()).c_str());
    return static_cast<int>(error.exit_code());
  }
}

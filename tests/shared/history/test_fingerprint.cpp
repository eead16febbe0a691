#include <gtest/gtest.h>

#include <fstream>

#include "shared/history/fingerprint.h"
#include "tests/shared/history/temporary_store.h"

namespace ringwright::history {
namespace {

using testing::TemporaryFolder;

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

TEST(Fingerprint, NamesMachineAndLibraries) {
  const nlohmann::json node = node_fingerprint();
  EXPECT_FALSE(node.at("node").get<std::string>().empty());
  EXPECT_TRUE(node.at("kernel").get<std::string>().starts_with("Linux "));
  EXPECT_GT(node.at("cpu").at("cores").get<int>(), 0);
  EXPECT_GT(node.at("memory_bytes").get<uint64_t>(), 1u << 20);
  EXPECT_EQ(node.at("ringwright"), RINGWRIGHT_VERSION);
  for (const char* library : {"sqlite", "zmq", "yaml-cpp", "xxhash", "nlohmann-json"})
    EXPECT_NE(node.at("libraries").at(library).get<std::string>().find('.'), std::string::npos) << library;
}

// The value for no bytes is in xxHash's own specification.
TEST(Fingerprint, HashesAsXxhsumDoes) {
  EXPECT_EQ(xxh3_of_text(""), "2d06800538d394c2");
  TemporaryFolder folder;
  const std::string large(3'000'001, 'x');  // longer than what is read at once
  write(folder.path() / "large", large);
  EXPECT_EQ(xxh3_of_file(folder.path() / "large"), xxh3_of_text(large));
  try {
    xxh3_of_file(folder.path() / "missing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-STORE-008");
    EXPECT_NE(error.parts().where.find("missing"), std::string::npos);
  }
}

TEST(Fingerprint, CoversAllThatGoesIn) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "model" / "deeper.json");
  write(folder.path() / "model" / "config.json", "{}");
  write(folder.path() / "model" / "model.safetensors", "weights");
  write(folder.path() / "model" / "notes.md", "not hashed");
  write(folder.path() / "train.txt", "text");
  const nlohmann::json inputs = input_fingerprint("a: 1\n", {{"model", (folder.path() / "model").string()},
                                                             {"train", (folder.path() / "train.txt").string()},
                                                             {"validation", nullptr},
                                                             {"tokenizer", (folder.path() / "gone").string()}});
  EXPECT_EQ(inputs.at("recipe").at("xxh3"), xxh3_of_text("a: 1\n"));
  EXPECT_EQ(inputs.at("train").at("bytes"), 4);
  EXPECT_EQ(inputs.at("train").at("xxh3"), xxh3_of_text("text"));
  EXPECT_EQ(inputs.at("model").at("files").size(), 2u);
  EXPECT_EQ(inputs.at("model").at("files").at("model.safetensors").at("xxh3"), xxh3_of_text("weights"));
  EXPECT_TRUE(inputs.at("tokenizer").contains("error"));
  EXPECT_FALSE(inputs.contains("validation"));
  write(folder.path() / "train.txt", "texts");
  EXPECT_NE(input_fingerprint("a: 1\n", {{"train", (folder.path() / "train.txt").string()}}).at("train"), inputs.at("train"));
}

}  // namespace
}  // namespace ringwright::history

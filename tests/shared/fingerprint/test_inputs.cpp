#include <gtest/gtest.h>

#include "shared/base/error.h"
#include "shared/fingerprint/inputs.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::fingerprint {
namespace {

using test::TemporaryFolder;

// The value for no bytes is in xxHash's own specification.
TEST(Inputs, HashesAsXxhsumDoes) {
  EXPECT_EQ(xxh3_of_text(""), "2d06800538d394c2");
  TemporaryFolder folder;
  const std::string large(3'000'001, 'x');  // longer than what is read at once
  folder.write("large", large);
  EXPECT_EQ(xxh3_of_file(folder.path() / "large"), xxh3_of_text(large));
  try {
    xxh3_of_file(folder.path() / "missing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.parts().code, "RW-STORE-008");
    EXPECT_NE(error.parts().where.find("missing"), std::string::npos);
  }
}

TEST(Inputs, CoversAllThatGoesIn) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "model" / "deeper.json");
  folder.write("model/config.json", "{}");
  folder.write("model/model.safetensors", "weights");
  folder.write("model/notes.md", "not hashed");
  folder.write("train.txt", "text");
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
  folder.write("train.txt", "texts");
  EXPECT_NE(input_fingerprint("a: 1\n", {{"train", (folder.path() / "train.txt").string()}}).at("train"), inputs.at("train"));
}

}  // namespace
}  // namespace ringwright::fingerprint

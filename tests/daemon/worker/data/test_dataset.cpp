#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "daemon/worker/data/dataset.h"
#include "shared/base/error.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::worker {
namespace {

// A byte-level tokenizer without merges: one token a byte, id = rank of the byte's letter in the list below.
constexpr const char* kTokenizer = R"({
  "added_tokens": [], "normalizer": null, "post_processor": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5}, "merges": []}})";

class DatasetTest : public testing::Test {
 protected:
  DatasetTest() : tokenizer_(tokenizer::Tokenizer::from_text(kTokenizer, "test")) {
    options_.eos_token_id = 9;
    options_.vocab_size = 10;
  }

  Dataset read(const std::string& format, const std::string& content, bool lines_are_rows = false) {
    const auto file = folder_ / "data";
    std::ofstream(file, std::ios::binary) << content;
    recipe::DataSource source;
    source.format = format;
    source.lines_are_rows = lines_are_rows;
    return read_dataset(source, file, tokenizer_, options_);
  }
  std::string code_of(const std::string& format, const std::string& content, std::string* where = nullptr) {
    try {
      read(format, content);
    } catch (const Error& error) {
      if (where) *where = error.parts().where;
      return error.parts().code;
    }
    return "";
  }

  tokenizer::Tokenizer tokenizer_;
  const test::TemporaryFolder folder_;
  DatasetOptions options_;
};

TEST_F(DatasetTest, TextIsJoinedWithEndTokensAndCutIntoFullWindows) {
  options_.sequence_length_max = 4;
  const Dataset dataset = read("text", "ab\r\n\ncd\nefa\nb\n");  // 0 1 9 2 | 3 9 4 5 | 0 9 1 9
  ASSERT_EQ(dataset.rows.size(), 3u);
  EXPECT_EQ(dataset.rows[0].ids, (std::vector<int64_t>{0, 1, 9, 2}));
  EXPECT_EQ(dataset.rows[1].ids, (std::vector<int64_t>{3, 9, 4, 5}));
  EXPECT_EQ(dataset.rows[2].ids, (std::vector<int64_t>{0, 9, 1, 9}));
  EXPECT_EQ(dataset.rows[2].trained, (std::vector<uint8_t>{1, 1, 1, 1}));
  EXPECT_EQ(dataset.dropped_row_count, 0);
}

TEST_F(DatasetTest, TheIncompleteLastWindowIsDroppedAndCounted) {
  options_.sequence_length_max = 5;
  const Dataset dataset = read("text", "abcdef\nab");
  EXPECT_EQ(dataset.rows.size(), 2u);
  EXPECT_EQ(dataset.token_count, 10);
  EXPECT_EQ(dataset.dropped_token_count, 0);
  const Dataset shorter = read("text", "abcdef\na");
  EXPECT_EQ(shorter.rows.size(), 1u);
  EXPECT_EQ(shorter.dropped_row_count, 1);
  EXPECT_EQ(shorter.dropped_token_count, 4);
}

TEST_F(DatasetTest, LinesMayStayRowsOfTheirOwn) {
  options_.sequence_length_max = 4;
  const Dataset dataset = read("text", "ab\n\ncdefa\nb\n", true);
  ASSERT_EQ(dataset.rows.size(), 2u);
  EXPECT_EQ(dataset.rows[0].ids, (std::vector<int64_t>{0, 1, 9}));
  EXPECT_EQ(dataset.rows[1].ids, (std::vector<int64_t>{1, 9}));
  EXPECT_EQ(dataset.rows[1].trained, (std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(dataset.token_count, 5);
  EXPECT_EQ(dataset.dropped_row_count, 1) << "six tokens with the end, four are the limit";
  EXPECT_EQ(dataset.dropped_token_count, 6);
}

TEST_F(DatasetTest, OnlyTheAnswerAndItsEndTokenAreTrainedOn) {
  options_.sequence_length_max = 6;
  const Dataset dataset = read("prompt_answer", "{\"prompt\": \"abc\", \"answer\": \"de\"}\n{\"prompt\": \"abcdef\", \"answer\": \"a\"}\n");
  ASSERT_EQ(dataset.rows.size(), 1u);
  EXPECT_EQ(dataset.rows[0].ids, (std::vector<int64_t>{0, 1, 2, 3, 4, 9}));
  EXPECT_EQ(dataset.rows[0].trained, (std::vector<uint8_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(dataset.dropped_row_count, 1);
  EXPECT_EQ(dataset.dropped_token_count, 8);
}

TEST_F(DatasetTest, BadInputIsOneErrorWithItsLine) {
  std::string where;
  EXPECT_EQ(code_of("prompt_answer", "{\"prompt\": \"a\", \"answer\": \"b\"}\n[1]\n", &where), "RW-DATA-002");
  EXPECT_TRUE(where.ends_with("data:2")) << where;
  EXPECT_EQ(code_of("prompt_answer", "{\"prompt\": \"a\"}\n"), "RW-DATA-002");
  EXPECT_EQ(code_of("prompt_answer", "{\"prompt\": \"a\", \"answer\": 3}\n"), "RW-DATA-002");
  EXPECT_EQ(code_of("prompt_answer", "{\"messages\": []}\n"), "RW-DATA-003");
  EXPECT_EQ(code_of("text", ""), "RW-DATA-004");
  EXPECT_EQ(code_of("text", "abc\nab\xff\n", &where), "RW-DATA-007");
  EXPECT_TRUE(where.ends_with("data:2")) << where;
  options_.vocab_size = 5;
  EXPECT_EQ(code_of("text", "abc\nf\n", &where), "RW-DATA-005");
  EXPECT_TRUE(where.ends_with("data:2")) << where;
}

TEST_F(DatasetTest, AByteOrderMarkIsNotTrainedOn) {
  options_.sequence_length_max = 4;
  EXPECT_EQ(read("text",
                 "\xEF\xBB\xBF"
                 "abc\n")
                .rows.front()
                .ids,
            (std::vector<int64_t>{0, 1, 2, 9}));
  EXPECT_EQ(read("text",
                 "\xEF\xBB\xBF"
                 "ab\n",
                 true)
                .rows.front()
                .ids,
            (std::vector<int64_t>{0, 1, 9}));
  EXPECT_EQ(read("prompt_answer", "\xEF\xBB\xBF{\"prompt\": \"a\", \"answer\": \"b\"}\n").rows.front().ids, (std::vector<int64_t>{0, 1, 9}));
}

TEST_F(DatasetTest, AMissingFileAndAFolderAreNamed) {
  recipe::DataSource source;
  source.format = "text";
  for (const auto& file : {folder_ / "absent", folder_.path(), std::filesystem::path("/dev/zero"), std::filesystem::path("/proc/self/mem")}) {
    try {
      read_dataset(source, file, tokenizer_, options_);
      ADD_FAILURE() << file;
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-DATA-001");
      EXPECT_EQ(error.parts().where, file.string());
    }
  }
}

TEST(RowOrder, EachEpochIsAPermutationThatDependsOnSeedAndEpoch) {
  constexpr int64_t kRows = 100;
  const auto epoch = [](RowOrder& order) {
    std::vector<int64_t> rows(kRows);
    std::generate(rows.begin(), rows.end(), [&] { return order.next(); });
    return rows;
  };
  RowOrder order(kRows, 7, true), same(kRows, 7, true), other(kRows, 8, true), plain(kRows, 7, false);
  std::vector<int64_t> sorted(kRows);
  std::iota(sorted.begin(), sorted.end(), int64_t{0});
  const auto first = epoch(order), second = epoch(order);
  EXPECT_EQ(order.epoch(), 1);
  EXPECT_EQ(first, epoch(same));
  EXPECT_NE(first, second);
  EXPECT_NE(first, epoch(other));
  EXPECT_EQ(sorted, epoch(plain));
  for (auto rows : {first, second}) {
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, sorted);
  }
}

}  // namespace
}  // namespace ringwright::worker

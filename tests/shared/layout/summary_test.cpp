#include "shared/layout/summary.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>

#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using ::testing::HasSubstr;

Summary plain(const char* name, int cp, int64_t length) { return summarize(*make_layout(name, cp), MaskArea({}, length)); }

TEST(Summary, CountsTokensPaddingAndWork) {
  const Summary summary = plain("round_robin", 2, 7);
  EXPECT_EQ(summary.padded_length, 8);
  EXPECT_EQ(summary.padding(), 1);
  EXPECT_EQ(summary.ranks[0].tokens, 3);  // positions 0, 1, 6; 7 is padding
  EXPECT_EQ(summary.ranks[0].padding, 1);
  EXPECT_EQ(summary.ranks[0].visible_pairs, 1 + 2 + 7);
  EXPECT_EQ(summary.ranks[1].visible_pairs, 3 + 4 + 5 + 6);
  EXPECT_EQ(summary.slowest_rank, 1);
  EXPECT_NEAR(summary.ranks[1].work_percent_of_mean, 100 * 18 / 14.0, 1e-9);
}

TEST(Summary, SaysHowUnevenTheWorkIs) {
  EXPECT_THAT(sentence(plain("round_robin", 4, 4096)), HasSubstr("same causal work"));
  EXPECT_THAT(sentence(plain("contiguous", 4, 4096)), HasSubstr("3 with 175.0 %"));
  EXPECT_THAT(sentence(plain("none", 4, 4096)), HasSubstr("whole sequence"));
  EXPECT_THAT(sentence(plain("none", 1, 4096)), HasSubstr("One rank"));
}

TEST(Summary, AnEmptySequenceIsEven) {
  const Summary summary = plain("contiguous", 4, 0);
  EXPECT_EQ(summary.ranks.size(), 4u);
  EXPECT_EQ(summary.slowest_percent(), 100);
}

TEST(Summary, PaddingInsideDocumentsIsNoToken) {
  const std::vector<PlacedDocument> documents = place_documents({3, 5}, document_multiple("thd", 2));
  EXPECT_EQ(documents, (std::vector<PlacedDocument>{{0, 4, 3}, {4, 8, 5}}));
  const std::vector<int64_t> offsets = document_offsets(documents);
  const Summary summary =
      summarize(*make_layout("thd", 2, {.document_offsets = offsets}), MaskArea({.document_offsets = offsets}, offsets.back()), documents);
  EXPECT_EQ(summary.tokens(), 8);
  EXPECT_EQ(summary.padding(), 4);
  EXPECT_EQ(summary.ranks[0].tokens, 3);  // positions 0, 3 (padding), 4, 5, 10 and 11 (padding)
  EXPECT_EQ(summary.mask, "2 documents, causal");
  EXPECT_THAT(sentence(summary), HasSubstr("same work with thd"));
}

TEST(Summary, DocumentLengthsThatAreNone) {
  EXPECT_EQ(refusal([] { place_documents({3, -1}, 4); }).code, "RW-LAYOUT-005");
  EXPECT_EQ(refusal([] { place_documents({kSequenceLengthMax, 1}, 1); }).code, "RW-LAYOUT-005");
  for (const int64_t multiple : {int64_t{0}, int64_t{-4}, kSequenceLengthMax + 1, std::numeric_limits<int64_t>::max()})
    EXPECT_EQ(refusal([&] { place_documents({5, 6}, multiple); }).code, "RW-LAYOUT-005") << multiple;
  EXPECT_EQ(place_documents({5}, kSequenceLengthMax).front().slot_length, kSequenceLengthMax);
  EXPECT_EQ(refusal([] { document_multiple("thf", 2); }).code, "RW-LAYOUT-003");
  EXPECT_EQ(document_multiple("deepseek_v4", 2, {.pad_multiple = 8}), 8);
}

TEST(Columns, AMillionTokensAreNotWalked) {
  const auto layout = make_layout("round_robin", 64);
  const int64_t length = int64_t{1} << 30;
  const std::vector<Column> strip = columns(layout->runs(length), 720, 0, length, {{0, length, length}});
  ASSERT_EQ(strip.size(), 720u);
  EXPECT_EQ(strip.front().owner, 0);
  EXPECT_EQ(strip.back().owner, 0);
  EXPECT_EQ(strip[360].owner, 63);
}

TEST(Columns, NothingToShow) {
  EXPECT_TRUE(columns({}, 0, 0, 8, {}).empty());
  EXPECT_TRUE(columns({}, 4, 8, 8, {}).empty());
  EXPECT_EQ(columns({}, 4, 0, 8, {}).front().owner, -1);
}

// The definition, position by position.
std::vector<Column> columns_plainly(const std::vector<layout::Run>& runs, int width, int64_t first, int64_t last,
                                    const std::vector<PlacedDocument>& documents) {
  std::vector<Column> result;
  for (int64_t i = 0; i < width; ++i) {
    const int64_t begin = first + i * (last - first) / width;
    const int64_t end = std::max(begin + 1, first + (i + 1) * (last - first) / width);
    std::map<int, int64_t> slots;
    int64_t padding = 0;
    bool starts = false;
    for (int64_t position = begin; position < end; ++position) {
      bool token = false;
      for (const PlacedDocument& document : documents) {
        token = token || (position >= document.start && position < document.start + document.real_length);
        starts = starts || position == document.start;
      }
      padding += token ? 0 : 1;
      for (const layout::Run& run : runs) {
        if (position >= run.global_start && position < run.global_start + run.length) ++slots[run.rank];
      }
    }
    Column column{.owner = -1,
                  .owner_slots = 0,
                  .owners = static_cast<int>(slots.size()),
                  .padding_share = static_cast<double>(padding) / static_cast<double>(end - begin),
                  .document_starts = starts};
    for (const auto& [rank, count] : slots) {
      if (count > column.owner_slots) column.owner = rank, column.owner_slots = count;
    }
    result.push_back(column);
  }
  return result;
}

TEST(ColumnsProperties, EqualTheDefinition) {
  EXPECT_TRUE(rc::check([] {
    const auto layout = make_layout(*rc::gen::element<std::string>("none", "round_robin", "contiguous"), *rc::gen::inRange(1, 7));
    std::vector<int64_t> lengths = {*rc::gen::inRange<int64_t>(0, 120)};
    for (const int64_t more : *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 20))) lengths.push_back(more);
    const std::vector<PlacedDocument> documents = place_documents(lengths, *rc::gen::inRange<int64_t>(1, 9));
    const int64_t padded = layout->padded_length(document_offsets(documents).back());
    const int64_t first = *rc::gen::inRange<int64_t>(0, padded + 1);
    const int64_t last = *rc::gen::inRange<int64_t>(0, padded + 1);
    const int width = *rc::gen::inRange(0, 90);
    const std::vector<Column> got = columns(layout->runs(padded), width, first, last, documents);
    if (last <= first) return;
    const std::vector<Column> expected = columns_plainly(layout->runs(padded), width, first, last, documents);
    RC_ASSERT(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      RC_ASSERT(got[i].owner == expected[i].owner);
      RC_ASSERT(got[i].owner_slots == expected[i].owner_slots);
      RC_ASSERT(got[i].owners == expected[i].owners);
      RC_ASSERT(got[i].padding_share == expected[i].padding_share);
      RC_ASSERT(got[i].document_starts == expected[i].document_starts);
    }
  }));
}

}  // namespace
}  // namespace ringwright::layout

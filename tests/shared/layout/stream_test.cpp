#include "shared/layout/stream.h"

#include <gmock/gmock.h>

#include "shared/layout/local_mask.h"
#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Stream, OffsetsOfRealTokensAndOfSlots) {
  const StreamOffsets stream = rows_to_stream({{3, 2}, {6, -1000}}, {{4, 2}, {6, -1000}}, 6);
  EXPECT_THAT(stream.cu_seqlens, ElementsAre(0, 3, 5, 11));
  EXPECT_THAT(stream.cu_seqlens_padded, ElementsAre(0, 4, 6, 12));
  EXPECT_THAT(stream.padding_mask, ElementsAre(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(stream.max_seqlen, 6);
  EXPECT_THAT(stream.partition_offsets(), ElementsAre(0, 4, 6, 12));
}

TEST(Stream, TheLastDocumentAbsorbsTheTail) {
  const StreamOffsets stream = rows_to_stream({{4, 2}}, {{4, 4}}, 8);
  EXPECT_THAT(stream.cu_seqlens, ElementsAre(0, 4, 8));
  EXPECT_THAT(stream.cu_seqlens_padded, IsEmpty());
  EXPECT_THAT(stream.padding_mask, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
}

TEST(Stream, ChunksHaveOneWidth) {
  const std::vector<StreamOffsets> chunks = rows_to_chunked_stream({{3, 2}, {6}}, {{4, 2}, {6}}, 6, 2);
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_THAT(chunks[0].cu_seqlens_padded, ElementsAre(0, 4, 6));
  EXPECT_THAT(chunks[1].cu_seqlens, ElementsAre(0, 6, -1000));
  EXPECT_THAT(chunks[1].cu_seqlens_padded, ElementsAre(0, 6, -1000));
}

TEST(StreamErrors, NameTheirNumbers) {
  EXPECT_THAT(refusal([] { rows_to_stream({{3}}, {{4, 2}}, 6); }).what, HasSubstr("1 seq_lens and 2 seq_lens_padded"));
  EXPECT_THAT(refusal([] { rows_to_stream({{3}}, {}, 6); }).what, HasSubstr("1 rows, seq_lens_padded 0"));
  EXPECT_THAT(refusal([] { rows_to_stream({{5}}, {{4}}, 6); }).what, HasSubstr("5 tokens in a slot of 4"));
  EXPECT_THAT(refusal([] { rows_to_stream({{-2}}, {{4}}, 6); }).what, HasSubstr("-2 tokens"));
  EXPECT_THAT(refusal([] { rows_to_stream({{5, 2}}, {{5, 2}}, 6); }).what, HasSubstr("reach 7, behind its 6 tokens"));
  EXPECT_EQ(refusal([] { rows_to_stream({{4}, {6}}, {{4}, {6}}, 6); }).code, "RW-STREAM-002");
  EXPECT_THAT(refusal([] { rows_to_chunked_stream({{4}, {6}, {6}}, {{4}, {6}, {6}}, 6, 2); }).what, HasSubstr("3 rows cannot be cut into 2"));
}

TEST(Stream, PaddingWithoutLengthsIsATailOrRefused) {
  EXPECT_THAT(tail_padding_mask(std::vector<int64_t>{5, 6, 7, 0, 0}, 0), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(tail_padding_mask(std::vector<int64_t>{}, 0), IsEmpty());
  EXPECT_THAT(refusal([] { tail_padding_mask(std::vector<int64_t>{5, 0, 7, 0, 0}, 0); }).what,
              HasSubstr("position 1, before the tail that starts at 3"));
}

TEST(Stream, DocumentLengthsMustCoverTheStream) {
  EXPECT_THAT(document_lengths({0, 3, 5}, {0, 4, 8}, 8), ElementsAre(4, 4));
  EXPECT_THAT(document_lengths({0, 4, 4, 8, -1000}, {}, 8), ElementsAre(4, 0, 4));
  EXPECT_THAT(refusal([] { document_lengths({0, 3, 5}, {}, 8); }).what, HasSubstr("5 tokens together, the stream has 8"));
}

TEST(LocalMask, QueriesOfOneWindowAgainstAllKeys) {
  const std::vector<int64_t> documents = {1, 1, 2, 2}, positions = {0, 1, 0, 1}, global = {0, 1, 2, 3};
  const std::vector<uint8_t> padding = {0, 0, 0, 0}, last = {0, 0, 0, 1};
  EXPECT_THAT(packed_local_mask(documents, positions, padding, {2, 2, 0}), ElementsAre(0, 0, 1, 0, 0, 0, 1, 1));
  EXPECT_THAT(plain_local_mask(global, last, {2, 2, 2}), ElementsAre(0, 1, 1, 0, 0, 0, 1, 0));
  EXPECT_EQ(refusal([&] { plain_local_mask(global, padding, {3, 2, 0}); }).code, "RW-MASK-004");
}

}  // namespace
}  // namespace ringwright::layout

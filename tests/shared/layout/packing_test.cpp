#include "shared/layout/packing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "tests/shared/layout/support.h"

namespace ringwright::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Documents = std::vector<std::vector<size_t>>;

Documents documents_of(const std::vector<Pack>& packing) {
  Documents result;
  for (const Pack& pack : packing) result.push_back(pack.documents);
  return result;
}

std::vector<Pack> pack(const char* algorithm, const std::vector<int64_t>& lengths, int64_t pack_length) {
  return pack_documents(lengths, {.algorithm = algorithm, .pack_length = pack_length});
}

TEST(Packing, TheAlgorithmsDiffer) {
  const std::vector<int64_t> lengths = {6, 5, 4, 3, 2};
  EXPECT_EQ(documents_of(pack("concatenative", lengths, 10)), (Documents{{0}, {1, 2}, {3, 4}}));
  EXPECT_EQ(documents_of(pack("first_fit", lengths, 10)), (Documents{{0, 2}, {1, 3, 4}}));
  EXPECT_EQ(documents_of(pack("first_fit", {2, 5, 4, 6, 3}, 10)), (Documents{{0, 1, 4}, {2, 3}}));
  EXPECT_EQ(documents_of(pack("first_fit_decreasing", {2, 5, 4, 6, 3}, 10)), (Documents{{3, 2}, {1, 4, 0}}));
}

// Bins of 60: large items of 32 and 31, small ones of 15 and three times 14. First fit decreasing wants a third bin, the modified one does not.
TEST(Packing, ModifiedFirstFitDecreasingPlacesTheShortestBesideTheLongest) {
  const std::vector<int64_t> lengths = {32, 31, 14, 15, 14, 14};
  EXPECT_EQ(pack("first_fit_decreasing", lengths, 60).size(), 3u);
  const std::vector<Pack> modified = pack("modified_first_fit_decreasing", lengths, 60);
  EXPECT_EQ(documents_of(modified), (Documents{{0, 4, 2}, {1, 5, 3}}));
  EXPECT_EQ(documents_of(pack("modified_ffd", lengths, 60)), documents_of(modified));
}

TEST(Packing, DocumentsArePaddedToTheDivisorAndTheTailGoesToTheLast) {
  const std::vector<Pack> packing =
      pack_documents({3, 4, 5}, {.algorithm = "concatenative", .pack_length = 20, .document_divisor = document_divisor(2, 1, false)});
  ASSERT_EQ(packing.size(), 1u);
  EXPECT_THAT(packing[0].real_lengths, ElementsAre(3, 4, 5));
  EXPECT_THAT(packing[0].slot_lengths, ElementsAre(4, 4, 12));
  EXPECT_EQ(packing[0].row_length, 20);
}

TEST(Packing, RowsAreRoundedWhereThatIsAskedFor) {
  PackingOptions options{.algorithm = "concatenative", .pack_length = 64, .document_divisor = 4, .sequence_length_round = 6};
  EXPECT_EQ(pack_documents({3, 4, 5}, options)[0].row_length, 24);  // 16 slots, rounded to a multiple of 6 and 4
  EXPECT_EQ(pack_documents({62}, options)[0].row_length, 64);       // never above the pack
}

// The product of 2*cp and tp, not their least common multiple.
TEST(Packing, TheDivisorIsTheProductUnderSequenceParallel) {
  EXPECT_EQ(document_divisor(2, 4, true), 16);
  EXPECT_EQ(document_divisor(2, 4, false), 4);
  EXPECT_EQ(document_divisor(1, 4, true), 4);
  EXPECT_EQ(document_divisor(1, 4, false), 1);
}

TEST(Packing, LongDocumentsAreRefused) {
  const PackingOptions options{.algorithm = "concatenative", .pack_length = 8, .document_divisor = 4};
  const ErrorParts parts = refusal([&] { pack_documents({3, 9}, options); });
  EXPECT_EQ(parts.code, "RW-PACK-003");
  EXPECT_THAT(parts.what, HasSubstr("document 1 has 9 tokens, 12 with its padding; 8 fit"));
  EXPECT_EQ(refusal([&] { pack_documents({0, 0}, options); }).code, "RW-PACK-004");
  EXPECT_EQ(refusal([&] { pack_documents({}, options); }).code, "RW-PACK-004");
  EXPECT_EQ(longest_document_of_pack(10, 4), 8);
  EXPECT_EQ(longest_document_of_pack(3, 4), 0);
}

TEST(Packing, BadOptionsNameTheirNumbers) {
  EXPECT_THAT(refusal([] { pack("first-fit", {1}, 8); }).action, HasSubstr("first_fit"));
  const ErrorParts parts = refusal([] { pack_documents({1}, {.pack_length = 10, .document_divisor = 4}); });
  EXPECT_EQ(parts.code, "RW-PACK-002");
  EXPECT_THAT(parts.what, HasSubstr("10 is not divisible by 4"));
  EXPECT_THAT(parts.expected, HasSubstr("12"));
  EXPECT_EQ(refusal([] { pack_documents({1}, {.pack_length = 0}); }).code, "RW-PACK-002");
  EXPECT_EQ(refusal([] { pack_documents({-1}, {.pack_length = 8}); }).code, "RW-PACK-002");
  EXPECT_EQ(refusal([] { pack_documents({1}, {.pack_length = 8, .sequence_length_round = 0}); }).code, "RW-PACK-002");
  EXPECT_EQ(refusal([] { pack_documents({INT64_MAX}, {.pack_length = 8}); }).code, "RW-PACK-003");
}

// T01: targets stop at the edges of documents.
TEST(Packing, T01NextTokenTargetsStopAtDocumentEdges) {
  EXPECT_THAT(next_token_positions({0, 3, 5}, {3, 2}), ElementsAre(1, 2, -1, 4, -1));
  EXPECT_THAT(next_token_positions({0, 4, 8}, {3, 2}), ElementsAre(1, 2, -1, -1, 5, -1, -1, -1));
}

TEST(PackingProperties, EveryDocumentIsInOnePackAndEveryPackHolds) {
  EXPECT_TRUE(rc::check([] {
    const int64_t divisor = *rc::gen::inRange<int64_t>(1, 9), pack_length = divisor * *rc::gen::inRange<int64_t>(1, 12);
    PackingOptions options{.algorithm = *rc::gen::elementOf(packing_algorithms()), .pack_length = pack_length, .document_divisor = divisor};
    if (*rc::gen::arbitrary<bool>()) options.sequence_length_round = *rc::gen::inRange<int64_t>(1, 20);
    std::vector<int64_t> lengths = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, pack_length + 1));
    lengths.push_back(1);
    std::map<size_t, int> times;
    for (const Pack& pack : pack_documents(lengths, options)) {
      RC_ASSERT(!pack.documents.empty());
      RC_ASSERT(pack.row_length <= pack_length);
      RC_ASSERT(std::accumulate(pack.slot_lengths.begin(), pack.slot_lengths.end(), int64_t{0}) == pack.row_length);
      for (size_t i = 0; i < pack.documents.size(); ++i) {
        ++times[pack.documents[i]];
        RC_ASSERT(pack.real_lengths[i] == lengths[pack.documents[i]]);
        RC_ASSERT(pack.slot_lengths[i] >= pack.real_lengths[i]);
        RC_ASSERT(pack.slot_lengths[i] % divisor == 0);
      }
    }
    for (size_t i = 0; i < lengths.size(); ++i) RC_ASSERT(times[i] == (lengths[i] > 0 ? 1 : 0));
  }));
}

// First fit: whatever opens a pack had no room in the ones before it. So at most one pack is half empty.
TEST(PackingProperties, FirstFitLeavesAtMostOnePackHalfEmpty) {
  EXPECT_TRUE(rc::check([] {
    const auto lengths = *rc::gen::nonEmpty(rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 41)));
    for (const char* algorithm : {"first_fit", "first_fit_decreasing", "modified_first_fit_decreasing"}) {
      int half_empty = 0;
      for (const Pack& pack : pack(algorithm, lengths, 40)) {
        half_empty += 2 * std::accumulate(pack.real_lengths.begin(), pack.real_lengths.end(), int64_t{0}) <= 40 ? 1 : 0;
      }
      RC_ASSERT(half_empty <= 1);
    }
  }));
}

// A hundred thousand documents are packed in well under a second.
TEST(Packing, ManyDocuments) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 100'000; ++i) lengths.push_back(1 + i * 7919 % 2000);
  const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  EXPECT_LE(static_cast<double>(pack("modified_first_fit_decreasing", lengths, 4096).size()), 1.01 * static_cast<double>(total) / 4096 + 1);
}

TEST(DynamicBatching, RowsOfLikeLengthShareAMicrobatch) {
  const std::vector<Microbatch> batches = batch_by_tokens({5, 1, 9, 2, 2}, {.tokens_max = 12, .sequence_length_round = 2});
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_THAT(batches[0].rows, ElementsAre(1u, 3u, 4u));
  EXPECT_EQ(batches[0].row_length, 2);
  EXPECT_THAT(batches[1].rows, ElementsAre(0u));
  EXPECT_EQ(batches[1].row_length, 6);
  EXPECT_EQ(batches[2].row_length, 10);
}

TEST(DynamicBatching, ARowLongerThanAMicrobatchIsRefused) {
  EXPECT_THAT(refusal([] { batch_by_tokens({5, 11}, {.tokens_max = 8}); }).what, HasSubstr("11 tokens"));
  EXPECT_EQ(refusal([] { batch_by_tokens({5}, {.tokens_max = 0}); }).code, "RW-PACK-002");
}

TEST(DynamicBatchingProperties, MicrobatchesHoldEveryRowOnceWithinTheirTokens) {
  EXPECT_TRUE(rc::check([] {
    const auto lengths = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 33));
    const DynamicBatchingOptions options{.tokens_max = *rc::gen::inRange<int64_t>(56, 200),  // a row of 32, padded to 28s
                                         .sequence_length_round = *rc::gen::inRange<int64_t>(1, 8),
                                         .length_divisor = *rc::gen::element<int64_t>(1, 2, 4)};
    std::vector<int> times(lengths.size(), 0);
    for (const Microbatch& batch : batch_by_tokens(lengths, options)) {
      RC_ASSERT(static_cast<int64_t>(batch.rows.size()) * batch.row_length <= options.tokens_max);
      RC_ASSERT(batch.row_length % options.length_divisor == 0);
      for (size_t row : batch.rows) {
        ++times.at(row);
        RC_ASSERT(lengths[row] <= batch.row_length);
      }
    }
    for (int count : times) RC_ASSERT(count == 1);
  }));
}

}  // namespace
}  // namespace ringwright::layout

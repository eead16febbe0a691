#include "shared/tokenizer/bpe.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

namespace ringwright::tokenizer {
namespace {

using Rules = std::map<std::pair<int32_t, int32_t>, std::pair<uint32_t, int32_t>>;  // pair -> rank, merged

// The definition, word for word: again and again the lowest rank, the leftmost of equals.
std::vector<int32_t> merge_plainly(std::vector<int32_t> ids, const Rules& rules) {
  while (true) {
    size_t best = ids.size();
    uint32_t best_rank = ~uint32_t{0};
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto rule = rules.find({ids[i], ids[i + 1]});
      if (rule != rules.end() && rule->second.first < best_rank) {
        best = i;
        best_rank = rule->second.first;
      }
    }
    if (best == ids.size()) return ids;
    ids[best] = rules.at({ids[best], ids[best + 1]}).second;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

// Short pieces go by the scan, long ones by the heap; both must equal the definition, also when a cache answers.
TEST(BpeProperties, ScanHeapAndCacheEqualTheDefinition) {
  EXPECT_TRUE(rc::check([] {
    Rules rules;
    Bpe bpe;
    for (int byte = 0; byte < 256; ++byte) bpe.set_byte_token(static_cast<uint8_t>(byte), byte);
    const int count = *rc::gen::inRange(0, 24);
    bpe.reserve_merges(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      const auto token = [i] {
        return *rc::gen::weightedOneOf<int32_t>({{3, rc::gen::inRange<int32_t>('a', 'd')}, {2, rc::gen::inRange<int32_t>(256, 257 + i)}});
      };
      const std::pair<int32_t, int32_t> pair{token(), token()};
      rules[pair] = {static_cast<uint32_t>(i), 256 + i};
      bpe.add_merge(pair.first, pair.second, static_cast<uint32_t>(i), 256 + i);
    }
    const auto piece = *rc::gen::resize(200, rc::gen::container<std::string>(rc::gen::inRange('a', 'd')));
    const std::vector<int32_t> expected = merge_plainly({piece.begin(), piece.end()}, rules);
    BpeScratch scratch;
    for (int time = 0; time < 2; ++time) {
      std::vector<int32_t> ids;
      bpe.encode(piece, scratch, ids);
      RC_ASSERT(ids == expected);
    }
  }));
}

TEST(PieceCache, StartsAfreshAtItsBound) {
  PieceCache cache;
  const int32_t id = 7;
  for (size_t i = 0; i <= PieceCache::kEntriesMax; ++i) {
    const std::string piece = std::to_string(i);
    cache.insert(piece, PieceCache::hash_of(piece), &id, 1);
  }
  EXPECT_EQ(cache.times_cleared(), 1u);
  const int32_t* ids = nullptr;
  size_t count = 0;
  EXPECT_FALSE(cache.find("0", PieceCache::hash_of("0"), ids, count));
  const std::string last = std::to_string(PieceCache::kEntriesMax);
  ASSERT_TRUE(cache.find(last, PieceCache::hash_of(last), ids, count));
  EXPECT_EQ(ids[0], 7);
}

}  // namespace
}  // namespace ringwright::tokenizer

// Byte-pair encoding over bytes: a piece of text starts as one token for each byte, then the neighbours whose merge has the lowest rank
// (the leftmost of equals) become one, until no merge applies.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ringwright::tokenizer {

// Merged pieces that were seen before. Bounded; starts afresh when a bound is hit, and counts that.
class PieceCache {
 public:
  static constexpr size_t kEntriesMax = size_t{1} << 16;
  static constexpr size_t kPieceBytesMax = 96;
  static constexpr size_t kKeyBytesMax = size_t{4} << 20;

  // Ids of the piece; false when it is unknown. The hash comes from hash_of.
  bool find(std::string_view piece, uint64_t hash, const int32_t*& ids, size_t& count) const;
  void insert(std::string_view piece, uint64_t hash, const int32_t* ids, size_t count);
  uint64_t times_cleared() const { return times_cleared_; }
  static uint64_t hash_of(std::string_view piece);

 private:
  struct Entry {
    uint64_t hash = 0;
    uint32_t key_begin = 0, key_size = 0;  // size 0: a free place
    uint32_t ids_begin = 0, ids_count = 0;
  };
  void clear();

  std::vector<Entry> entries_;
  std::string keys_;
  std::vector<int32_t> ids_;
  size_t used_ = 0;
  uint64_t times_cleared_ = 0;
};

// Working memory of one thread.
struct BpeScratch {
  struct Symbol {
    int32_t id;
    int32_t previous, next;  // -1 at the ends
  };
  struct Candidate {
    uint32_t rank;
    int32_t position;
    int32_t left, right;  // ids at the time of entry
  };
  PieceCache cache;
  std::vector<int32_t> ids;
  std::vector<uint32_t> ranks;
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

class Bpe {
 public:
  static constexpr int32_t kNoToken = -1;

  // Token of each byte, kNoToken where the vocabulary has none.
  void set_byte_token(uint8_t byte, int32_t id) { byte_tokens_[byte] = id; }
  int32_t byte_token(uint8_t byte) const { return byte_tokens_[byte]; }
  void reserve_merges(size_t count);
  // A later merge of the same pair replaces an earlier one, as in the tokenizers library.
  void add_merge(int32_t left, int32_t right, uint32_t rank, int32_t merged);
  // Pieces that are taken whole whatever the merges say (ignore_merges).
  void add_whole_piece(std::string bytes, int32_t id) { whole_pieces_.emplace(std::move(bytes), id); }

  // Appends the tokens of one piece. Throws Error RW-TOK-004 for a byte without a token.
  void encode(std::string_view piece, BpeScratch& scratch, std::vector<int32_t>& ids) const;

 private:
  struct Merge {
    uint64_t pair = kFreePlace;
    uint32_t rank = 0;
    int32_t merged = 0;
  };
  static constexpr uint64_t kFreePlace = ~uint64_t{0};
  static constexpr uint32_t kNoMerge = ~uint32_t{0};
  // Up to this many bytes a scan for the lowest rank beats a heap.
  static constexpr size_t kScanBytesMax = 48;

  static uint64_t pair_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  const Merge* find_merge(int32_t left, int32_t right) const;
  uint32_t rank_of(int32_t left, int32_t right) const;
  void split_to_bytes(std::string_view piece, std::vector<int32_t>& ids) const;
  void merge_by_scan(BpeScratch& scratch) const;
  void merge_by_heap(BpeScratch& scratch) const;
  void push_candidate(BpeScratch& scratch, int32_t position) const;

  std::array<int32_t, 256> byte_tokens_ = [] {
    std::array<int32_t, 256> none{};
    none.fill(kNoToken);
    return none;
  }();
  std::vector<Merge> merges_;
  int shift_ = 0;
  std::unordered_map<std::string, int32_t> whole_pieces_;
};

}  // namespace ringwright::tokenizer

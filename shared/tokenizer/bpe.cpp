#include "shared/tokenizer/bpe.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "shared/base/error.h"

namespace ringwright::tokenizer {

uint64_t PieceCache::hash_of(std::string_view piece) { return XXH3_64bits(piece.data(), piece.size()); }

bool PieceCache::find(std::string_view piece, uint64_t hash, const int32_t*& ids, size_t& count) const {
  if (entries_.empty()) return false;
  const size_t mask = entries_.size() - 1;
  for (size_t place = hash & mask; entries_[place].key_size != 0; place = (place + 1) & mask) {
    const Entry& entry = entries_[place];
    if (entry.hash != hash || entry.key_size != piece.size() || std::memcmp(keys_.data() + entry.key_begin, piece.data(), piece.size()) != 0)
      continue;
    ids = ids_.data() + entry.ids_begin;
    count = entry.ids_count;
    return true;
  }
  return false;
}

void PieceCache::insert(std::string_view piece, uint64_t hash, const int32_t* ids, size_t count) {
  if (piece.empty() || piece.size() > kPieceBytesMax) return;
  if (used_ >= kEntriesMax || keys_.size() + piece.size() > kKeyBytesMax) {
    clear();
    ++times_cleared_;
  }
  if (entries_.empty()) entries_.resize(2 * kEntriesMax);
  const size_t mask = entries_.size() - 1;
  size_t place = hash & mask;
  while (entries_[place].key_size != 0) place = (place + 1) & mask;
  entries_[place] = {hash, static_cast<uint32_t>(keys_.size()), static_cast<uint32_t>(piece.size()), static_cast<uint32_t>(ids_.size()),
                     static_cast<uint32_t>(count)};
  keys_.append(piece);
  ids_.insert(ids_.end(), ids, ids + count);
  ++used_;
}

void PieceCache::clear() {
  std::fill(entries_.begin(), entries_.end(), Entry{});
  keys_.clear();
  ids_.clear();
  used_ = 0;
}

void Bpe::reserve_merges(size_t count) {
  const size_t places = std::bit_ceil(std::max<size_t>(2 * count, 16));
  merges_.assign(places, Merge{});
  shift_ = 64 - std::countr_zero(places);
}

namespace {

// Fibonacci hashing: the upper bits of the product are well mixed.
size_t place_of(uint64_t pair, int shift) { return static_cast<size_t>((pair ^ pair >> 32) * 0x9E3779B97F4A7C15ULL >> shift); }

}  // namespace

void Bpe::add_merge(int32_t left, int32_t right, uint32_t rank, int32_t merged) {
  const uint64_t pair = pair_of(left, right);
  size_t place = place_of(pair, shift_);
  while (merges_[place].pair != kFreePlace && merges_[place].pair != pair) place = (place + 1) & (merges_.size() - 1);
  merges_[place] = {pair, rank, merged};
}

const Bpe::Merge* Bpe::find_merge(int32_t left, int32_t right) const {
  if (merges_.empty()) return nullptr;
  const uint64_t pair = pair_of(left, right);
  for (size_t place = place_of(pair, shift_);; place = (place + 1) & (merges_.size() - 1)) {
    if (merges_[place].pair == pair) return &merges_[place];
    if (merges_[place].pair == kFreePlace) return nullptr;
  }
}

uint32_t Bpe::rank_of(int32_t left, int32_t right) const {
  const Merge* merge = find_merge(left, right);
  return merge == nullptr ? kNoMerge : merge->rank;
}

void Bpe::split_to_bytes(std::string_view piece, std::vector<int32_t>& ids) const {
  ids.clear();
  for (char c : piece) {
    const int32_t id = byte_tokens_[static_cast<uint8_t>(c)];
    if (id == kNoToken) {
      throw Error({.code = "RW-TOK-004",
                   .what = fmt::format("the vocabulary has no token for the byte 0x{:02X}, which the text needs", static_cast<uint8_t>(c)),
                   .where = "model.vocab",
                   .expected = "a byte-level vocabulary with all 256 bytes",
                   .action = "train the tokenizer with the whole byte alphabet, or leave such text out",
                   .exit_code = ExitCode::refused});
    }
    ids.push_back(id);
  }
}

void Bpe::merge_by_scan(BpeScratch& scratch) const {
  std::vector<int32_t>& ids = scratch.ids;
  std::vector<uint32_t>& ranks = scratch.ranks;  // ranks[i]: of the pair (i, i + 1)
  ranks.clear();
  for (size_t i = 0; i + 1 < ids.size(); ++i) ranks.push_back(rank_of(ids[i], ids[i + 1]));
  while (!ranks.empty()) {
    const auto best = std::min_element(ranks.begin(), ranks.end());
    if (*best == kNoMerge) return;
    const auto i = static_cast<size_t>(best - ranks.begin());
    ids[i] = find_merge(ids[i], ids[i + 1])->merged;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    ranks.erase(best);
    if (i > 0) ranks[i - 1] = rank_of(ids[i - 1], ids[i]);
    if (i < ranks.size()) ranks[i] = rank_of(ids[i], ids[i + 1]);
  }
}

namespace {

// Orders a heap so that the lowest rank, then the leftmost place, comes out first.
bool comes_later(const BpeScratch::Candidate& a, const BpeScratch::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
}

}  // namespace

void Bpe::push_candidate(BpeScratch& scratch, int32_t position) const {
  if (position < 0) return;
  const BpeScratch::Symbol& left = scratch.symbols[static_cast<size_t>(position)];
  if (left.next < 0) return;
  const int32_t right = scratch.symbols[static_cast<size_t>(left.next)].id;
  const uint32_t rank = rank_of(left.id, right);
  if (rank == kNoMerge) return;
  scratch.heap.push_back({rank, position, left.id, right});
  std::push_heap(scratch.heap.begin(), scratch.heap.end(), comes_later);
}

void Bpe::merge_by_heap(BpeScratch& scratch) const {
  std::vector<BpeScratch::Symbol>& symbols = scratch.symbols;
  const auto count = static_cast<int32_t>(scratch.ids.size());
  symbols.clear();
  scratch.heap.clear();
  for (int32_t i = 0; i < count; ++i) symbols.push_back({scratch.ids[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  for (int32_t i = 0; i + 1 < count; ++i) push_candidate(scratch, i);
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), comes_later);
    const BpeScratch::Candidate best = scratch.heap.back();
    scratch.heap.pop_back();
    BpeScratch::Symbol& left = symbols[static_cast<size_t>(best.position)];
    // An entry is out of date when one of its two symbols has been merged since; a swallowed symbol has the id kNoToken.
    if (left.id != best.left || left.next < 0) continue;
    BpeScratch::Symbol& right = symbols[static_cast<size_t>(left.next)];
    if (right.id != best.right) continue;
    left.id = find_merge(best.left, best.right)->merged;
    right.id = kNoToken;
    left.next = right.next;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = best.position;
    push_candidate(scratch, left.previous);
    push_candidate(scratch, best.position);
  }
  scratch.ids.clear();
  for (int32_t i = 0; i >= 0; i = symbols[static_cast<size_t>(i)].next) scratch.ids.push_back(symbols[static_cast<size_t>(i)].id);
}

void Bpe::encode(std::string_view piece, BpeScratch& scratch, std::vector<int32_t>& ids) const {
  if (piece.empty()) return;
  const uint64_t hash = PieceCache::hash_of(piece);
  const int32_t* known = nullptr;
  size_t count = 0;
  if (scratch.cache.find(piece, hash, known, count)) {
    ids.insert(ids.end(), known, known + count);
    return;
  }
  const auto whole = whole_pieces_.empty() ? whole_pieces_.end() : whole_pieces_.find(std::string(piece));
  if (whole != whole_pieces_.end()) {
    scratch.ids.assign(1, whole->second);
  } else {
    split_to_bytes(piece, scratch.ids);
    if (scratch.ids.size() <= kScanBytesMax) {
      merge_by_scan(scratch);
    } else {
      merge_by_heap(scratch);
    }
  }
  scratch.cache.insert(piece, hash, scratch.ids.data(), scratch.ids.size());
  ids.insert(ids.end(), scratch.ids.begin(), scratch.ids.end());
}

}  // namespace ringwright::tokenizer

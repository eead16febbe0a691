#include "shared/layout/traffic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shared/base/text.h"
#include "shared/layout/head_split.h"
#include "shared/layout/methods.h"
#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

using Ranges = std::vector<Range>;

Ranges merged(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  Ranges result;
  for (const Range& range : ranges) {
    if (range.start >= range.end) continue;
    if (!result.empty() && range.start <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

// Key slots that each rank receives: keys with their values in the forward pass, some of them again in the backward pass, and gradients of both.
struct Slots {
  std::vector<int64_t> keys, keys_again, gradients;

  explicit Slots(int cp) : keys(static_cast<size_t>(cp), 0), keys_again(keys), gradients(keys) {}
};

struct Question {
  const Layout& layout;
  const MaskArea& area;
  int64_t padded_length;
  const AttentionShape& shape;
};

// Positions that one rank owns and the same ranks read: the first and the last of these, counted in hops behind the owner. 0: nobody else reads.
struct Piece {
  int64_t length;
  int owner;
  int first_hop, last_hop;
  int readers;
};

// All positions, cut wherever an owner or a reader changes. read_by_rank: what each rank reads of others is added.
std::vector<Piece> pieces_of(const Question& question, std::vector<int64_t>* read_by_rank = nullptr) {
  const int cp = question.layout.cp();
  std::vector<Run> owners = question.layout.runs(question.padded_length);
  std::sort(owners.begin(), owners.end(), [](const Run& a, const Run& b) { return a.global_start < b.global_start; });
  std::vector<Ranges> reads;
  std::vector<int64_t> cuts = {question.padded_length};
  for (const Run& run : owners) cuts.push_back(run.global_start);
  for (int rank = 0; rank < cp; ++rank) {
    reads.push_back(keys_read(question.layout, question.area, question.padded_length, rank));
    for (const Range& range : reads.back()) cuts.insert(cuts.end(), {range.start, range.end});
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Piece> pieces;
  size_t owner = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    while (owner + 1 < owners.size() && owners[owner + 1].global_start <= cuts[i]) ++owner;
    pieces.push_back({cuts[i + 1] - cuts[i], owners[owner].rank, 0, 0, 0});
  }
  for (int rank = 0; rank < cp; ++rank) {
    size_t i = 0;
    for (const Range& range : reads[static_cast<size_t>(rank)]) {
      i = static_cast<size_t>(std::lower_bound(cuts.begin() + static_cast<std::ptrdiff_t>(i), cuts.end(), range.start) - cuts.begin());
      for (; i + 1 < cuts.size() && cuts[i] < range.end; ++i) {
        Piece& piece = pieces[i];
        const int hop = (rank - piece.owner + cp) % cp;
        if (hop == 0) continue;
        piece.first_hop = piece.readers == 0 ? hop : std::min(piece.first_hop, hop);
        piece.last_hop = std::max(piece.last_hop, hop);
        ++piece.readers;
        if (read_by_rank != nullptr) (*read_by_rank)[static_cast<size_t>(rank)] += piece.length;
      }
    }
  }
  return pieces;
}

// A piece makes the hops 1..last_hop; what the first of them brought is kept for the backward pass. Its gradient starts at its first reader and comes
// home by hop cp.
Slots ring_slots(const Question& question) {
  const int cp = question.layout.cp();
  Slots slots(cp);
  for (const Piece& piece : pieces_of(question)) {
    if (piece.readers == 0) continue;
    for (int hop = 1; hop <= piece.last_hop; ++hop) slots.keys[static_cast<size_t>((piece.owner + hop) % cp)] += piece.length;
    for (int hop = 2; hop <= piece.last_hop; ++hop) slots.keys_again[static_cast<size_t>((piece.owner + hop) % cp)] += piece.length;
    for (int hop = piece.first_hop + 1; hop <= cp; ++hop) slots.gradients[static_cast<size_t>((piece.owner + hop) % cp)] += piece.length;
  }
  return slots;
}

Slots ranged_slots(const Question& question) {
  Slots slots(question.layout.cp());
  for (const Piece& piece : pieces_of(question, &slots.keys)) slots.gradients[static_cast<size_t>(piece.owner)] += piece.length * piece.readers;
  slots.keys_again = slots.keys;
  return slots;
}

Slots all_gather_slots(const Question& question) {
  const int cp = question.layout.cp();
  Slots slots(cp);
  const int64_t others = question.padded_length / cp * (cp - 1);
  for (auto* each : {&slots.keys, &slots.keys_again, &slots.gradients}) std::fill(each->begin(), each->end(), others);
  return slots;
}

std::vector<RankTraffic> bytes_of(const Slots& slots, const AttentionShape& shape) {
  const int64_t elements = 2 * shape.kv_heads * shape.head_size;
  std::vector<RankTraffic> result;
  for (size_t rank = 0; rank < slots.keys.size(); ++rank) {
    result.push_back(
        {slots.keys[rank] * elements * shape.element_bytes,
         slots.keys_again[rank] * elements * shape.element_bytes + slots.gradients[rank] * elements * std::max<int64_t>(shape.element_bytes, 4)});
  }
  return result;
}

template <Slots (*slots)(const Question&)>
std::optional<std::vector<RankTraffic>> by_slots(const Question& question) {
  if (question.layout.replicates()) return std::vector<RankTraffic>(static_cast<size_t>(question.layout.cp()));
  return bytes_of(slots(question), question.shape);
}

using Answer = std::optional<std::vector<RankTraffic>>;

std::vector<RankTraffic> same_for_all(const Question& question, int64_t bytes) {
  return std::vector<RankTraffic>(static_cast<size_t>(question.layout.cp()), RankTraffic{bytes, bytes});
}

// What a rank receives when `ranks` neighbours exchange heads: its share of the heads of the others' tokens, forward of queries, keys and values and
// its tokens' outputs, backward of the gradients of all four. Fewer KV heads than ranks are sent to each rank that needs them.
int64_t exchanged_bytes(const Question& question, int64_t ranks) {
  const AttentionShape& shape = question.shape;
  const int64_t others = question.padded_length / question.layout.cp() * (ranks - 1);
  const int64_t query = others * (shape.heads / ranks) * shape.head_size;
  const int64_t keys = 2 * others * std::max<int64_t>(shape.kv_heads / ranks, 1) * shape.head_size;
  return (2 * query + keys) * shape.element_bytes;
}

Answer all_to_all(const Question& question) {
  if (question.layout.replicates()) return same_for_all(question, 0);
  if (!head_split_refusal({question.shape.heads, question.shape.kv_heads}, question.layout.cp()).empty()) return std::nullopt;
  return same_for_all(question, exchanged_bytes(question, question.layout.cp()));
}

// Heads go round runs of neighbours, and then a ring goes through the ranks that have the same heads.
Answer all_to_all_ring(const Question& question) {
  const AttentionShape& shape = question.shape;
  const int ranks = head_ranks_of_grid({shape.heads, shape.kv_heads}, question.layout.cp());
  if (question.layout.replicates()) return same_for_all(question, 0);
  if (ranks == 0) return std::nullopt;
  const auto runs = merge_ranks(question.layout, question.padded_length, ranks);
  const AttentionShape own{shape.heads / ranks, std::max<int64_t>(shape.kv_heads / ranks, 1), shape.head_size, shape.element_bytes};
  const std::vector<RankTraffic> ring = bytes_of(ring_slots({*runs, question.area, question.padded_length, own}), own);
  std::vector<RankTraffic> result = same_for_all(question, exchanged_bytes(question, ranks));
  for (size_t rank = 0; rank < result.size(); ++rank) {
    result[rank].forward_bytes += ring[rank / static_cast<size_t>(ranks)].forward_bytes;
    result[rank].backward_bytes += ring[rank / static_cast<size_t>(ranks)].backward_bytes;
  }
  return result;
}

// No method moves more: the other ranks' tokens with queries, keys, values and outputs, and again for the backward pass.
bool fits_into_64_bits(const Question& question) {
  const AttentionShape& shape = question.shape;
  const auto most = [](int64_t value, int64_t least = 1) { return static_cast<double>(std::max(value, least)); };
  return 8 * most(question.padded_length) * most(question.layout.cp()) * most(shape.heads) * most(shape.head_size) * most(shape.element_bytes, 4) <
         0x1p63;
}

struct Method {
  std::string_view name;
  Answer (*traffic)(const Question&);
};

constexpr Method kMethods[] = {
    {names::kRing, by_slots<ring_slots>}, {names::kRanged, by_slots<ranged_slots>}, {names::kAllGather, by_slots<all_gather_slots>},
    {names::kAllToAll, all_to_all},       {names::kAllToAllRing, all_to_all_ring},
};

}  // namespace

std::optional<std::vector<RankTraffic>> traffic(std::string_view method, const Layout& layout, const MaskArea& area, int64_t padded_length,
                                                const AttentionShape& shape) {
  const auto found = std::find_if(std::begin(kMethods), std::end(kMethods), [&](const Method& each) { return each.name == method; });
  if (found == std::end(kMethods)) {
    const std::string near = text::nearest(method, method_names());
    refuse("RW-LAYOUT-011", fmt::format("no attention method is called \"{}\"", method), std::string(method),
           fmt::format("one of {}", fmt::join(method_names(), ", ")), near.empty() ? "choose one of these" : fmt::format("did you mean {}?", near));
  }
  if (shape.heads < 1 || shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0 || shape.head_size < 1 || shape.element_bytes < 1) {
    refuse("RW-LAYOUT-004",
           fmt::format("{} heads over {} KV heads of {} elements, {} bytes each, are no attention", shape.heads, shape.kv_heads, shape.head_size,
                       shape.element_bytes),
           "attention shape", "at least one of each, and KV heads that divide the heads", "correct the shape");
  }
  const Question question{layout, area, padded_length, shape};
  if (!fits_into_64_bits(question)) {
    refuse("RW-LAYOUT-004",
           fmt::format("the bytes of {} heads of {} elements, {} bytes each, over {} tokens and {} ranks are beyond 64 bits", shape.heads,
                       shape.head_size, shape.element_bytes, padded_length, layout.cp()),
           "attention shape", "the shape of one layer's attention", "correct the shape");
  }
  return found->traffic(question);
}

std::vector<Range> keys_read(const Layout& layout, const MaskArea& area, int64_t padded_length, int rank) {
  const std::vector<MaskBlock>& blocks = area.blocks();
  const int64_t window = area.mask().window;
  Ranges reads;
  for (const Run& run : layout.runs(padded_length, rank)) {
    const int64_t end = run.global_start + run.length;
    auto block = std::partition_point(blocks.begin(), blocks.end(),
                                      [&](const MaskBlock& each) { return each.query_start + each.query_length <= run.global_start; });
    for (; block != blocks.end() && block->query_start < end; ++block) {
      const int64_t first = std::max(run.global_start, block->query_start), last = std::min(end, block->query_start + block->query_length);
      const int64_t nearest = window > 0 ? first - block->skipped - window + 1 : block->key_start;
      reads.push_back({std::max(block->key_start, nearest), block->causal ? last : block->key_start + block->key_length});
    }
  }
  return merged(std::move(reads));
}

int64_t keys_read_of_others(const Layout& layout, const MaskArea& area, int64_t padded_length, int rank) {
  const Ranges reads = keys_read(layout, area, padded_length, rank);
  int64_t count = 0;
  for (const Range& range : reads) count += range.end - range.start;
  Ranges own;
  for (const Run& run : layout.runs(padded_length, rank)) own.push_back({run.global_start, run.global_start + run.length});
  own = merged(std::move(own));
  for (size_t i = 0, j = 0; i < own.size() && j < reads.size();) {
    count -= std::max<int64_t>(std::min(own[i].end, reads[j].end) - std::max(own[i].start, reads[j].start), 0);
    own[i].end < reads[j].end ? ++i : ++j;
  }
  return count;
}

}  // namespace ringwright::layout

#include "shared/layout/packing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/layout/deepseek_v4.h"
#include "shared/layout/layout.h"
#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

// A document and the room it takes.
struct Item {
  size_t document;
  int64_t size;
};

struct Bin {
  std::vector<Item> items;
  int64_t room;

  bool fits(const Item& item) const { return item.size <= room; }
  void add(const Item& item) {
    items.push_back(item);
    room -= item.size;
  }
};

using Items = std::vector<Item>;
using Bins = std::vector<Bin>;

void open_bin(Bins& bins, int64_t capacity, const Item& item) {
  bins.push_back({{}, capacity});
  bins.back().add(item);
}

Items longest_first(Items items) {
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.size > b.size; });
  return items;
}

Bins concatenative(const Items& items, int64_t capacity) {
  Bins bins;
  for (const Item& item : items) {
    if (bins.empty() || !bins.back().fits(item)) {
      open_bin(bins, capacity, item);
    } else {
      bins.back().add(item);
    }
  }
  return bins;
}

// The first bin with room is found in a tree over the bins' room: O(log bins) for each item.
class FirstFit {
 public:
  explicit FirstFit(Bins bins, int64_t capacity, size_t items) : bins_(std::move(bins)), capacity_(capacity) {
    while (leaves_ < bins_.size() + items) leaves_ *= 2;
    room_.assign(2 * leaves_, 0);
    for (size_t bin = 0; bin < bins_.size(); ++bin) update(bin);
  }
  void place(const Item& item) {
    if (room_[1] < item.size) {
      open_bin(bins_, capacity_, item);
      return update(bins_.size() - 1);
    }
    size_t node = 1;
    while (node < leaves_) node = room_[2 * node] >= item.size ? 2 * node : 2 * node + 1;
    bins_[node - leaves_].add(item);
    update(node - leaves_);
  }
  Bins take() { return std::move(bins_); }

 private:
  void update(size_t bin) {
    size_t node = leaves_ + bin;
    room_[node] = bins_[bin].room;
    while (node > 1) {
      node /= 2;
      room_[node] = std::max(room_[2 * node], room_[2 * node + 1]);
    }
  }

  Bins bins_;
  int64_t capacity_;
  size_t leaves_ = 1;
  std::vector<int64_t> room_;  // a heap-ordered tree: the most room below each node; bins that are not open have none
};

Bins first_fit(const Items& items, int64_t capacity) {
  FirstFit fit({}, capacity, items.size());
  for (const Item& item : items) fit.place(item);
  return fit.take();
}

Bins first_fit_decreasing(const Items& items, int64_t capacity) { return first_fit(longest_first(items), capacity); }

// Items that are still to be placed, longest first, of equal ones the earlier document.
class Pool {
 public:
  void add(Items::const_iterator first, Items::const_iterator last) { items_.insert(first, last); }
  void add(const Pool& other) { items_.insert(other.items_.begin(), other.items_.end()); }
  // Moves the longest item that fits into the bin; false when none does.
  bool give_longest(Bin& bin) {
    const auto found = items_.lower_bound({0, bin.room});
    if (found == items_.end()) return false;
    bin.add(*found);
    items_.erase(found);
    return true;
  }
  // Moves the shortest item and the longest one that fits beside it; nothing where the two shortest do not fit.
  void give_shortest_and_longest(Bin& bin) {
    if (items_.size() < 2) return;
    const auto shortest = std::prev(items_.end());
    if (shortest->size + std::prev(shortest)->size > bin.room) return;
    bin.add(*shortest);
    items_.erase(shortest);
    give_longest(bin);
  }
  Items items() const { return {items_.begin(), items_.end()}; }

 private:
  struct LongestFirst {
    bool operator()(const Item& a, const Item& b) const { return a.size != b.size ? a.size > b.size : a.document < b.document; }
  };
  std::set<Item, LongestFirst> items_;
};

// The five steps of Johnson and Garey: a large item takes more than half a bin, a medium one more than a third, a small one more than a sixth.
Bins modified_first_fit_decreasing(const Items& items, int64_t capacity) {
  const Items sorted = longest_first(items);
  const auto below = [&](int64_t share) {
    return std::partition_point(sorted.begin(), sorted.end(), [&](const Item& item) { return item.size * share > capacity; });
  };
  Bins bins;
  for (auto item = sorted.begin(); item != below(2); ++item) open_bin(bins, capacity, *item);
  Pool medium, small;
  medium.add(below(2), below(3));
  small.add(below(3), below(6));
  std::vector<bool> has_medium;
  for (Bin& bin : bins) has_medium.push_back(medium.give_longest(bin));
  for (size_t b = bins.size(); b-- > 0;) {
    if (!has_medium[b]) small.give_shortest_and_longest(bins[b]);
  }
  Pool rest;
  rest.add(medium);
  rest.add(small);
  rest.add(below(6), sorted.end());
  for (Bin& bin : bins) {
    while (rest.give_longest(bin)) {
    }
  }
  // No bin has room for any of what is left.
  Bins further = first_fit(rest.items(), capacity);
  bins.insert(bins.end(), std::make_move_iterator(further.begin()), std::make_move_iterator(further.end()));
  return bins;
}

struct Algorithm {
  std::string_view name;
  Bins (*pack)(const Items& items, int64_t capacity);
};

constexpr Algorithm kAlgorithms[] = {
    {"modified_first_fit_decreasing", modified_first_fit_decreasing},
    {"modified_ffd", modified_first_fit_decreasing},
    {"first_fit_decreasing", first_fit_decreasing},
    {"first_fit", first_fit},
    {"concatenative", concatenative},
};

const Algorithm& algorithm_of(const std::string& name) {
  const auto found = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms), [&](const Algorithm& each) { return each.name == name; });
  if (found != std::end(kAlgorithms)) return *found;
  const std::string near = text::nearest(name, packing_algorithms());
  refuse("RW-PACK-001", fmt::format("no packing algorithm is called \"{}\"", name), "policy.sequence_packing.algorithm",
         fmt::format("one of {}", fmt::join(packing_algorithms(), ", ")),
         near.empty() ? "choose one of these" : fmt::format("did you mean {}?", near));
}

void check_range(std::string_view key, int64_t value, int64_t last = kSequenceLengthMax) {
  if (value >= 1 && value <= last) return;
  refuse("RW-PACK-002", fmt::format("{} = {} is out of range", key, value), std::string(key), fmt::format("a value from 1 to {}", last),
         "correct the value");
}

void check(const PackingOptions& options) {
  check_range("pack length", options.pack_length);
  check_range("document divisor", options.document_divisor);
  if (options.sequence_length_round) check_range("sequence_length_round", *options.sequence_length_round);
  if (options.pack_length % options.document_divisor == 0) return;
  refuse("RW-PACK-002",
         fmt::format("the pack length {} is not divisible by {}, which each document is padded to (remainder {})", options.pack_length,
                     options.document_divisor, options.pack_length % options.document_divisor),
         "pack length",
         fmt::format("a multiple of {}, such as {}", options.document_divisor, round_up(options.pack_length, options.document_divisor)),
         "change the pack length, cp or ringwright.packing.document_divisor");
}

[[noreturn]] void refuse_long(size_t index, int64_t length, int64_t slot, int64_t room) {
  refuse("RW-PACK-003", fmt::format("document {} has {} tokens, {} with its padding; {} fit", index, length, slot, room),
         fmt::format("document {}", index), fmt::format("documents of at most {} tokens", room),
         "raise the limit, shorten the document, or set ringwright.packing.skip_long");
}

Pack finish(const Bin& bin, const std::vector<int64_t>& lengths, const PackingOptions& options) {
  Pack pack;
  int64_t filled = 0;
  for (const Item& item : bin.items) {
    pack.documents.push_back(item.document);
    pack.real_lengths.push_back(lengths[item.document]);
    pack.slot_lengths.push_back(item.size);
    filled += item.size;
  }
  pack.row_length = options.pack_length;
  if (options.sequence_length_round) {
    pack.row_length = std::min(round_up(filled, std::lcm(*options.sequence_length_round, options.document_divisor)), options.pack_length);
  }
  pack.slot_lengths.back() += pack.row_length - filled;
  return pack;
}

}  // namespace

int64_t document_divisor(int cp, int tp, bool sequence_parallel) {
  return (cp > 1 ? int64_t{2} * cp : 1) * (sequence_parallel ? std::max(tp, 1) : 1);
}

int64_t longest_document_of_pack(int64_t pack_length, int64_t document_divisor) { return pack_length / document_divisor * document_divisor; }

std::vector<Pack> pack_documents(const std::vector<int64_t>& lengths, const PackingOptions& options) {
  const Algorithm& algorithm = algorithm_of(options.algorithm);
  check(options);
  Items items;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) check_range(fmt::format("length of document {}", i), lengths[i]);
    if (lengths[i] == 0) continue;
    const int64_t slot = round_up(std::min(lengths[i], kSequenceLengthMax), options.document_divisor);
    if (slot > options.pack_length) refuse_long(i, lengths[i], slot, options.pack_length);
    items.push_back({i, slot});
  }
  const Bins bins = algorithm.pack(items, options.pack_length);
  if (bins.empty()) {
    refuse("RW-PACK-004", fmt::format("none of {} documents has a token", lengths.size()), "packing",
           fmt::format("at least one document of 1 to {} tokens", options.pack_length), "raise the pack length, or check the data");
  }
  std::vector<Pack> packs;
  for (const Bin& bin : bins) packs.push_back(finish(bin, lengths, options));
  return packs;
}

const std::vector<std::string>& packing_algorithms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Algorithm& each : kAlgorithms) result.emplace_back(each.name);
    return result;
  }();
  return names;
}

Pack pack_whole(const std::vector<int64_t>& lengths) {
  Pack pack;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 1) break;
    pack.documents.push_back(i);
    pack.row_length += lengths[i];
  }
  if (lengths.empty() || pack.documents.size() < lengths.size()) {
    refuse("RW-PACK-004", lengths.empty() ? "there is no document to pack" : fmt::format("document {} has no tokens", pack.documents.size()),
           "packing", "documents of at least one token", "check the data");
  }
  pack.real_lengths = pack.slot_lengths = lengths;
  return pack;
}

RowLengths filled_lengths(std::vector<std::vector<int64_t>> real, std::vector<std::vector<int64_t>> slots) {
  for (auto* rows : {&real, &slots}) {
    size_t widest = 0;
    for (const std::vector<int64_t>& row : *rows) widest = std::max(widest, row.size());
    for (std::vector<int64_t>& row : *rows) row.resize(widest, kLengthFiller);
  }
  return {std::move(real), std::move(slots)};
}

RowLengths loose_row_lengths(const std::vector<int64_t>& attended, const std::vector<int64_t>& row_lengths) {
  const int64_t longest = row_lengths.empty() ? 0 : *std::max_element(row_lengths.begin(), row_lengths.end());
  RowLengths lengths;
  for (int64_t count : attended) {
    lengths.real.push_back({count});
    lengths.slots.push_back({longest});
  }
  return lengths;
}

std::vector<PackedSlot> packed_slots(const std::vector<int64_t>& real_lengths, const std::vector<int64_t>& slot_lengths) {
  std::vector<PackedSlot> slots;
  slots.reserve(static_cast<size_t>(std::accumulate(slot_lengths.begin(), slot_lengths.end(), int64_t{0})));
  for (size_t d = 0; d < slot_lengths.size(); ++d) {
    for (int64_t i = 0; i < slot_lengths[d]; ++i) slots.push_back({static_cast<int64_t>(d), i < real_lengths[d] ? i : -1, i});
  }
  return slots;
}

std::vector<int64_t> next_token_positions(const std::vector<int64_t>& offsets, const std::vector<int64_t>& real_lengths) {
  std::vector<int64_t> targets(static_cast<size_t>(offsets.back()), -1);
  for (size_t d = 0; d < real_lengths.size(); ++d) {
    for (int64_t i = 0; i + 1 < real_lengths[d]; ++i) targets[static_cast<size_t>(offsets[d] + i)] = offsets[d] + i + 1;
  }
  return targets;
}

std::vector<Microbatch> batch_by_tokens(const std::vector<int64_t>& lengths, const DynamicBatchingOptions& options) {
  check_range("tokens of a microbatch", options.tokens_max);
  check_range("sequence_length_round", options.sequence_length_round);
  check_range("length divisor", options.length_divisor);
  const int64_t multiple = std::lcm(options.sequence_length_round, options.length_divisor);
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lengths[a] < lengths[b]; });
  std::vector<Microbatch> batches;
  for (size_t row : order) {
    check_range(fmt::format("length of row {}", row), lengths[row]);
    const int64_t length = round_up(lengths[row], multiple);
    if (length > options.tokens_max) refuse_long(row, lengths[row], length, options.tokens_max);
    const int64_t rows_then = batches.empty() ? 1 : static_cast<int64_t>(batches.back().rows.size()) + 1;
    if (batches.empty() || rows_then * length > options.tokens_max) batches.push_back({});
    batches.back().rows.push_back(row);
    batches.back().row_length = length;  // lengths ascend
  }
  return batches;
}

}  // namespace ringwright::layout

#include "shared/layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/layout/layout_kinds.h"
#include "shared/layout/mask_area.h"
#include "shared/layout/names.h"
#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

// Appends a run: empty ones are dropped, neighbours joined, so that every run is maximal.
void append(std::vector<Run>& runs, const Run& piece) {
  if (piece.length == 0) return;
  Run* last = runs.empty() ? nullptr : &runs.back();
  if (last != nullptr && last->rank == piece.rank && last->document == piece.document && last->global_start + last->length == piece.global_start) {
    last->length += piece.length;
  } else {
    runs.push_back(piece);
  }
}

struct Entry {
  std::string_view name;
  std::unique_ptr<Layout> (*make)(int cp, const Options& options);
  int64_t (*document_multiple)(int cp, const Options& options);
  bool joins_rows;
};

int64_t any_length(int, const Options&) { return 1; }
int64_t thd_multiple(int cp, const Options&) { return thd_divisor(cp); }
int64_t deepseek_v4_multiple(int, const Options& options) { return std::max<int64_t>(options.pad_multiple, 2); }

constexpr Entry kLayouts[] = {
    {names::kNone, make_identity, any_length, false},
    {names::kRoundRobin, make_round_robin, any_length, false},
    {names::kContiguous, make_contiguous, any_length, false},
    {names::kThd, make_thd, thd_multiple, true},
    {names::kBalanced, make_balanced, any_length, true},
    {names::kDeepseekV4, make_deepseek_v4, deepseek_v4_multiple, false},
    {names::kGlm, make_glm, any_length, true},
    {names::kGemma4, make_gemma4, any_length, false},
};

void check_range(std::string_view key, int64_t value, int64_t first, int64_t last, std::string_view action) {
  if (value >= first && value <= last) return;
  refuse("RW-LAYOUT-004", fmt::format("{} = {} is out of range", key, value), std::string(key), fmt::format("a value from {} to {}", first, last),
         std::string(action));
}

const Entry& find_entry(std::string_view name, int cp, const Options& options) {
  const auto entry = std::find_if(std::begin(kLayouts), std::end(kLayouts), [&](const Entry& row) { return row.name == name; });
  if (entry == std::end(kLayouts)) {
    const std::string near = text::nearest(name, layout_names());
    refuse("RW-LAYOUT-003", fmt::format("no layout is called \"{}\"", name), std::string(name),
           fmt::format("one of {}", fmt::join(layout_names(), ", ")), near.empty() ? "choose one of these" : fmt::format("did you mean {}?", near));
  }
  check_range("cp", cp, 1, kCpMax, "set cp to the number of ranks that share one sequence");
  check_range("pad_multiple", options.pad_multiple, 0, kPadMultipleMax, "leave it out, or set a small power of two");
  check_range("chunk", options.chunk.value_or(kChunkDefault), 1, kChunkMax, "leave it out, or set a power of two such as 512");
  return *entry;
}

void check_size(size_t size, int64_t expected) {
  if (static_cast<int64_t>(size) != expected) throw std::logic_error(fmt::format("a map of {} slots into memory for {}", expected, size));
}

}  // namespace

Layout::Layout(int cp) : cp_(cp) {}

void Layout::check(int64_t padded_length, int rank) const {
  if (padded_length < 0 || padded_length > kSequenceLengthMax) {
    refuse("RW-LAYOUT-005", fmt::format("a sequence of {} tokens cannot be laid out", padded_length), "sequence length",
           fmt::format("a length from 0 to {}", kSequenceLengthMax), "check the sequence length");
  }
  if (const std::optional<int64_t> stream = stream_length(); stream && *stream != padded_length) {
    refuse("RW-LAYOUT-008", fmt::format("the length {} does not match the map, which was made for {} tokens at cp = {}", padded_length, *stream, cp_),
           fmt::format("layout {}, cp {}", name(), cp_), fmt::format("{}", *stream), "make the layout for the batch that it is used with");
  }
  if (padded_length % map_divisor() != 0) {
    const int64_t below = padded_length - padded_length % divisor();
    refuse("RW-LAYOUT-001",
           fmt::format("the padded sequence length {} is not divisible by {}, which the layout {} needs at cp = {} (remainder {})", padded_length,
                       map_divisor(), name(), cp_, padded_length % map_divisor()),
           fmt::format("layout {}, cp {}", name(), cp_), fmt::format("a multiple of {}, such as {} or {}", map_divisor(), below, below + divisor()),
           "pad the sequence to one of these lengths, or change cp");
  }
  if (rank < 0 || rank >= cp_) {
    refuse("RW-LAYOUT-002", fmt::format("rank {} is outside a group of cp = {}", rank, cp_), fmt::format("layout {}, cp {}", name(), cp_),
           fmt::format("a rank from 0 to {}", cp_ - 1), "use the rank inside the cp group, not the global rank");
  }
}

int64_t Layout::padded_length(int64_t sequence_length) const {
  const int64_t padded = sequence_length < 0 ? sequence_length : round_up(std::min(sequence_length, kSequenceLengthMax + 1), divisor());
  if (sequence_length < 0 || padded > kSequenceLengthMax) {
    refuse("RW-LAYOUT-005", fmt::format("a sequence of {} tokens cannot be laid out", sequence_length), "sequence length",
           fmt::format("a length from 0 to {} after padding to a multiple of {}", kSequenceLengthMax, divisor()), "check the sequence length");
  }
  return padded;
}

Facts Layout::facts(int64_t rows, int64_t row_length) const {
  (void)rows;  // rows that stay rows are cut along their own axis
  return {.original_length = row_length, .padded_length = padded_length(row_length)};
}

std::vector<int64_t> Layout::local_token_global_indices(int64_t padded_length, int rank) const {
  check(padded_length, rank);
  std::vector<int64_t> indices(static_cast<size_t>(local_length(padded_length)));
  fill_indices(padded_length, rank, indices);
  return indices;
}

void Layout::fill_indices(int64_t padded_length, int rank, std::span<int64_t> indices) const {
  check(padded_length, rank);
  check_size(indices.size(), local_length(padded_length));
  visit_runs(padded_length, rank, [&](const Run& run) {
    const auto begin = indices.begin() + run.local_start;
    std::iota(begin, begin + run.length, run.global_start);
  });
}

std::vector<int64_t> Layout::gather_order(int64_t padded_length) const {
  check(padded_length, 0);
  std::vector<int64_t> order(static_cast<size_t>(padded_length));
  fill_gather_order(padded_length, order);
  return order;
}

void Layout::fill_gather_order(int64_t padded_length, std::span<int64_t> order) const {
  check(padded_length, 0);
  check_size(order.size(), padded_length);
  const int64_t local = local_length(padded_length);
  const int owners = replicates() ? 1 : cp_;
  for (int rank = 0; rank < owners; ++rank) {
    visit_runs(padded_length, rank, [&](const Run& run) {
      const auto begin = order.begin() + run.global_start;
      std::iota(begin, begin + run.length, rank * local + run.local_start);
    });
  }
}

Slot Layout::owner(int64_t padded_length, int64_t global_position) const {
  check(padded_length, 0);
  if (global_position < 0 || global_position >= padded_length) {
    refuse("RW-LAYOUT-006", fmt::format("position {} is outside a padded sequence of {} tokens", global_position, padded_length),
           fmt::format("layout {}, cp {}", name(), cp_), fmt::format("a position from 0 to {}", padded_length - 1), "check the position");
  }
  return find_owner(padded_length, global_position);
}

std::vector<Run> Layout::runs(int64_t padded_length, int rank) const {
  check(padded_length, rank);
  std::vector<Run> result;
  visit_runs(padded_length, rank, [&](const Run& run) { append(result, run); });
  return result;
}

std::vector<Run> Layout::runs(int64_t padded_length) const {
  check(padded_length, 0);
  std::vector<Run> result;
  for (int rank = 0; rank < cp_; ++rank) visit_runs(padded_length, rank, [&](const Run& run) { append(result, run); });
  return result;
}

int64_t Layout::work(const MaskArea& area, int64_t padded_length, int rank) const {
  check(padded_length, rank);
  int64_t pairs = 0;
  visit_runs(padded_length, rank, [&](const Run& run) { pairs += area.pairs(run.global_start, run.length); });
  return pairs;
}

std::unique_ptr<Layout> make_layout(std::string_view name, int cp, const Options& options) { return find_entry(name, cp, options).make(cp, options); }

int64_t document_multiple(std::string_view name, int cp, const Options& options) {
  return find_entry(name, cp, options).document_multiple(cp, options);
}

bool joins_rows(std::string_view name) {
  const auto entry = std::find_if(std::begin(kLayouts), std::end(kLayouts), [&](const Entry& row) { return row.name == name; });
  return entry != std::end(kLayouts) && entry->joins_rows;
}

const std::vector<std::string>& layout_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Entry& entry : kLayouts) result.emplace_back(entry.name);
    return result;
  }();
  return names;
}

const std::vector<std::string>& flavour_names() {
  static const std::vector<std::string> flavours = [] {
    std::vector<std::string> result = layout_names();
    std::erase(result, names::kNone);
    return result;
  }();
  return flavours;
}

}  // namespace ringwright::layout

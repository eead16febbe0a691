#include "shared/layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shared/base/error.h"
#include "shared/base/text.h"

namespace ringwright::layout {
namespace {

[[noreturn]] void refuse(std::string code, std::string what, std::string where, std::string expected, std::string action) {
  throw Error({std::move(code), std::move(what), std::move(where), std::move(expected), std::move(action), ExitCode::refused});
}

// Drops empty runs and joins neighbours, so that every run is maximal.
std::vector<Run> maximal(std::vector<Run> pieces) {
  std::vector<Run> result;
  for (const Run& piece : pieces) {
    if (piece.length == 0) continue;
    if (!result.empty() && result.back().document == piece.document && result.back().global_start + result.back().length == piece.global_start) {
      result.back().length += piece.length;
    } else {
      result.push_back(piece);
    }
  }
  return result;
}

// Every rank holds the whole sequence; no data moves.
class Identity final : public Layout {
 public:
  explicit Identity(int cp) : Layout(cp) {}
  std::string_view name() const override { return "none"; }
  int64_t divisor() const override { return 1; }
  int64_t local_length(int64_t padded_length) const override { return padded_length; }

 protected:
  std::vector<Run> rank_runs(int64_t padded_length, int rank) const override { return maximal({{rank, 0, 0, padded_length, 0}}); }
  Slot find_owner(int64_t, int64_t global_position) const override { return {0, global_position}; }
};

// Head-tail: 2*cp equal chunks, rank r holds chunk r and chunk 2*cp-1-r.
class RoundRobin final : public Layout {
 public:
  explicit RoundRobin(int cp) : Layout(cp) {}
  std::string_view name() const override { return "round_robin"; }
  int64_t divisor() const override { return int64_t{2} * cp(); }

 protected:
  std::vector<Run> rank_runs(int64_t padded_length, int rank) const override {
    const int64_t chunk = padded_length / divisor();
    return maximal({{rank, 0, rank * chunk, chunk, 0}, {rank, chunk, (divisor() - 1 - rank) * chunk, chunk, 0}});
  }
  Slot find_owner(int64_t padded_length, int64_t global_position) const override {
    const int64_t chunk = padded_length / divisor();
    const int64_t k = global_position / chunk;
    const bool head = k < cp();
    return {static_cast<int>(head ? k : divisor() - 1 - k), global_position - k * chunk + (head ? 0 : chunk)};
  }
};

// Equal windows in rank order.
class Contiguous final : public Layout {
 public:
  Contiguous(int cp, int64_t pad_multiple) : Layout(cp), pad_multiple_(std::max<int64_t>(pad_multiple, 2)) {}
  std::string_view name() const override { return "contiguous"; }
  int64_t divisor() const override { return cp() * pad_multiple_; }
  int64_t map_divisor() const override { return cp(); }

 protected:
  std::vector<Run> rank_runs(int64_t padded_length, int rank) const override {
    const int64_t window = padded_length / cp();
    return maximal({{rank, 0, rank * window, window, 0}});
  }
  Slot find_owner(int64_t padded_length, int64_t global_position) const override {
    const int64_t window = padded_length / cp();
    return {static_cast<int>(global_position / window), global_position % window};
  }

 private:
  int64_t pad_multiple_;
};

struct Entry {
  std::string_view name;
  std::unique_ptr<Layout> (*make)(int cp, const Options& options);
};

constexpr Entry kLayouts[] = {
    {"none", [](int cp, const Options&) -> std::unique_ptr<Layout> { return std::make_unique<Identity>(cp); }},
    {"round_robin", [](int cp, const Options&) -> std::unique_ptr<Layout> { return std::make_unique<RoundRobin>(cp); }},
    {"contiguous", [](int cp, const Options& options) -> std::unique_ptr<Layout> { return std::make_unique<Contiguous>(cp, options.pad_multiple); }},
};

}  // namespace

Layout::Layout(int cp) : cp_(cp) {}

void Layout::check(int64_t padded_length, int rank) const {
  if (padded_length < 0 || padded_length > kSequenceLengthMax) {
    refuse("RW-LAYOUT-005", fmt::format("a sequence of {} tokens cannot be laid out", padded_length), "sequence length",
           fmt::format("a length from 0 to {}", kSequenceLengthMax), "check the sequence length");
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
  const int64_t padded =
      sequence_length < 0 ? sequence_length : (std::min(sequence_length, kSequenceLengthMax + 1) + divisor() - 1) / divisor() * divisor();
  if (sequence_length < 0 || padded > kSequenceLengthMax) {
    refuse("RW-LAYOUT-005", fmt::format("a sequence of {} tokens cannot be laid out", sequence_length), "sequence length",
           fmt::format("a length from 0 to {} after padding to a multiple of {}", kSequenceLengthMax, divisor()), "check the sequence length");
  }
  return padded;
}

std::vector<int64_t> Layout::local_token_global_indices(int64_t padded_length, int rank) const {
  check(padded_length, rank);
  std::vector<int64_t> indices;
  indices.reserve(static_cast<size_t>(local_length(padded_length)));
  for (const Run& run : rank_runs(padded_length, rank)) {
    for (int64_t k = 0; k < run.length; ++k) indices.push_back(run.global_start + k);
  }
  return indices;
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
  return rank_runs(padded_length, rank);
}

std::vector<Run> Layout::runs(int64_t padded_length) const {
  check(padded_length, 0);
  std::vector<Run> result;
  for (int rank = 0; rank < cp_; ++rank) {
    const std::vector<Run> own = rank_runs(padded_length, rank);
    result.insert(result.end(), own.begin(), own.end());
  }
  return result;
}

int64_t Layout::causal_work(int64_t padded_length, int64_t sequence_length, int rank) const {
  int64_t pairs = 0;
  for (const Run& run : runs(padded_length, rank)) {
    const int64_t first = std::min(run.global_start, sequence_length);
    const int64_t last = std::min(run.global_start + run.length, sequence_length);
    // A query at position p sees p + 1 keys. Of the two factors one is even; lengths up to 2^31 keep the product in 64 bits.
    pairs += (last - first) * (first + last + 1) / 2;
  }
  return pairs;
}

std::unique_ptr<Layout> make_layout(std::string_view name, int cp, const Options& options) {
  const auto entry = std::find_if(std::begin(kLayouts), std::end(kLayouts), [&](const Entry& row) { return row.name == name; });
  if (entry == std::end(kLayouts)) {
    const std::string near = text::nearest(name, layout_names());
    refuse("RW-LAYOUT-003", fmt::format("no layout is called \"{}\"", name), std::string(name),
           fmt::format("one of {}", fmt::join(layout_names(), ", ")), near.empty() ? "choose one of these" : fmt::format("did you mean {}?", near));
  }
  if (cp < 1 || cp > kCpMax) {
    refuse("RW-LAYOUT-004", fmt::format("cp = {} is no size of a context-parallel group", cp), "cp", fmt::format("a cp from 1 to {}", kCpMax),
           "set cp to the number of ranks that share one sequence");
  }
  if (options.pad_multiple < 0 || options.pad_multiple > kPadMultipleMax) {
    refuse("RW-LAYOUT-004", fmt::format("pad_multiple = {} is out of range", options.pad_multiple), "pad_multiple",
           fmt::format("a value from 0 to {}", kPadMultipleMax), "leave it out, or set a small power of two");
  }
  return entry->make(cp, options);
}

const std::vector<std::string>& layout_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Entry& entry : kLayouts) result.emplace_back(entry.name);
    return result;
  }();
  return names;
}

}  // namespace ringwright::layout

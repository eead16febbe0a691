// Layouts whose map was made for one stream.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "shared/base/rounding.h"
#include "shared/layout/dispatch.h"
#include "shared/layout/layout_kinds.h"
#include "shared/layout/mask_area.h"
#include "shared/layout/names.h"
#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

// A layout for one stream takes its length before and after padding, and no other.
class StreamLayout : public Layout {
 public:
  StreamLayout(int cp, int64_t sequence_length, int64_t stream_length)
      : Layout(cp), sequence_length_(sequence_length), stream_length_(stream_length) {}
  std::optional<int64_t> stream_length() const override { return stream_length_; }
  int64_t padded_length(int64_t sequence_length) const override {
    if (sequence_length == sequence_length_ || sequence_length == stream_length_) return stream_length_;
    refuse("RW-LAYOUT-008", fmt::format("a sequence of {} tokens does not match the stream of {}", sequence_length, stream_length_),
           fmt::format("layout {}, cp {}", name(), cp()),
           sequence_length_ == stream_length_ ? fmt::format("{}", stream_length_)
                                              : fmt::format("{}, or {} before padding", stream_length_, sequence_length_),
           "make the layout for the batch that it is used with");
  }

 private:
  int64_t sequence_length_, stream_length_;
};

// Head-tail inside each document (contract 2.1).
class Thd final : public StreamLayout {
 public:
  Thd(int cp, int64_t sequence_length, std::vector<int64_t> offsets)
      : StreamLayout(cp, sequence_length, offsets.back()), offsets_(std::move(offsets)) {}
  std::string_view name() const override { return names::kThd; }
  int64_t divisor() const override { return thd_divisor(cp()); }
  Facts facts(int64_t rows, int64_t row_length) const override { return {true, {}, padded_length(rows * row_length), {rows, row_length}}; }

 protected:
  void visit_runs(int64_t, int rank, const RunVisitor& visit) const override {
    for (size_t d = 0; d + 1 < offsets_.size(); ++d) {
      const int64_t start = offsets_[d], length = offsets_[d + 1] - start, chunk = length / divisor();
      if (length == 0) continue;
      if (cp() == 1) {
        visit({rank, start, start, length, static_cast<int64_t>(d)});
        continue;
      }
      const int64_t local = start / cp();
      visit({rank, local, start + rank * chunk, chunk, static_cast<int64_t>(d)});
      visit({rank, local + chunk, start + (divisor() - 1 - rank) * chunk, chunk, static_cast<int64_t>(d)});
    }
  }
  Slot find_owner(int64_t, int64_t global_position) const override {
    if (cp() == 1) return {0, global_position};
    const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), global_position);
    const int64_t start = *(after - 1), chunk = (*after - start) / divisor();
    const int64_t k = (global_position - start) / chunk;
    const bool head = k < cp();
    return {static_cast<int>(head ? k : divisor() - 1 - k), start / cp() + (global_position - start) - k * chunk + (head ? 0 : chunk)};
  }

 private:
  std::vector<int64_t> offsets_;
};

// A map that a dispatch solver made, kept as runs.
class Dispatched final : public StreamLayout {
 public:
  // name: of static storage. runs: by (rank, local_start), a bijection.
  Dispatched(int cp, std::string_view name, int64_t divisor, int64_t sequence_length, int64_t stream_length, std::vector<Run> runs)
      : StreamLayout(cp, sequence_length, stream_length), name_(name), divisor_(divisor), runs_(std::move(runs)), by_position_(runs_) {
    std::sort(by_position_.begin(), by_position_.end(), [](const Run& a, const Run& b) { return a.global_start < b.global_start; });
  }
  std::string_view name() const override { return name_; }
  int64_t divisor() const override { return divisor_; }
  Facts facts(int64_t rows, int64_t row_length) const override { return dispatch_facts(*stream_length(), rows, row_length); }

 protected:
  void visit_runs(int64_t, int rank, const RunVisitor& visit) const override {
    auto run = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& each) { return each.rank < rank; });
    for (; run != runs_.end() && run->rank == rank; ++run) visit(*run);
  }
  Slot find_owner(int64_t, int64_t global_position) const override {
    const auto after =
        std::partition_point(by_position_.begin(), by_position_.end(), [&](const Run& each) { return each.global_start <= global_position; });
    const Run& run = *(after - 1);
    return {run.rank, run.local_start + global_position - run.global_start};
  }

 private:
  std::string_view name_;
  int64_t divisor_;
  std::vector<Run> runs_, by_position_;
};

void check_thd_documents(const std::vector<int64_t>& offsets, int cp) {
  const int64_t divisor = thd_divisor(cp);
  const auto fault = [&](std::string what) {
    refuse("RW-LAYOUT-009", std::move(what), fmt::format("layout thd, cp {}", cp),
           fmt::format("cumulative padded lengths from 0, each divisible by {} (2*cp from cp 2 on), with at least one token", divisor),
           "pad each document before it is packed, or change cp");
  };
  if (offsets.front() != 0) fault(fmt::format("the document offsets start at {}", offsets.front()));
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) fault(fmt::format("document offset {} falls from {} to {}", i, offsets[i - 1], offsets[i]));
    if (offsets[i] % divisor != 0) fault(fmt::format("document offset {} is {}, which is not divisible by {}", i, offsets[i], divisor));
  }
  if (offsets.back() == 0) fault("the stream has no tokens");
  if (offsets.back() > kSequenceLengthMax) fault(fmt::format("the stream ends at {}, above {}", offsets.back(), kSequenceLengthMax));
}

// Chunks of each rank ascend; neighbours become one run.
std::vector<Run> runs_of_chunks(const std::vector<int>& rank_of_chunk, int64_t chunk, int cp) {
  std::vector<std::vector<Run>> ranks(static_cast<size_t>(cp));
  std::vector<int64_t> filled(static_cast<size_t>(cp), 0);
  for (size_t i = 0; i < rank_of_chunk.size(); ++i) {
    const int rank = rank_of_chunk[i];
    std::vector<Run>& own = ranks[static_cast<size_t>(rank)];
    const int64_t start = static_cast<int64_t>(i) * chunk;
    if (!own.empty() && own.back().global_start + own.back().length == start) {
      own.back().length += chunk;
    } else {
      own.push_back({rank, filled[static_cast<size_t>(rank)], start, chunk, 0});
    }
    filled[static_cast<size_t>(rank)] += chunk;
  }
  std::vector<Run> runs;
  for (const std::vector<Run>& own : ranks) runs.insert(runs.end(), own.begin(), own.end());
  return runs;
}

}  // namespace

int64_t default_chunk(int64_t sequence_length, int cp) {
  const int64_t largest = std::clamp<int64_t>(sequence_length / (kChunksOfRank * std::max(cp, 1)), 1, kChunkDefault);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(largest)));
}

int64_t thd_divisor(int cp) { return cp == 1 ? 1 : int64_t{2} * cp; }

Facts dispatch_facts(int64_t stream_length, int64_t rows, int64_t row_length) {
  Facts facts{.index_map = true, .padded_length = stream_length};
  if (stream_length == rows * row_length) {
    facts.row_shape = {rows, row_length};
  } else if (rows == 1 && stream_length >= row_length) {
    facts.original_length = row_length;
  }
  return facts;
}

std::unique_ptr<Layout> make_thd(int cp, const Options& options) {
  if (options.document_offsets.empty()) {
    refuse("RW-LAYOUT-007", "the layout thd needs the documents of its stream", "document_offsets", "cumulative padded lengths [0, ..., T]",
           "give the documents, or choose round_robin for one sequence");
  }
  check_thd_documents(options.document_offsets, cp);
  return std::make_unique<Thd>(cp, options.sequence_length.value_or(options.document_offsets.back()), options.document_offsets);
}

std::unique_ptr<Layout> make_balanced(int cp, const Options& options) {
  if (!options.sequence_length) {
    refuse("RW-LAYOUT-007", "the layout balanced needs the length of its stream", "sequence_length", "a number of tokens",
           "give the length of the stream before padding");
  }
  const MaskArea area(options.mask, *options.sequence_length);
  const int64_t chunk = options.chunk.value_or(default_chunk(*options.sequence_length, cp));
  const int64_t divisor = cp * chunk;
  const int64_t stream = round_up(*options.sequence_length, divisor);
  if (stream > kSequenceLengthMax) {
    refuse("RW-LAYOUT-005", fmt::format("a sequence of {} tokens cannot be laid out", *options.sequence_length), "sequence length",
           fmt::format("a length from 0 to {} after padding to a multiple of {}", kSequenceLengthMax, divisor), "check the sequence length");
  }
  const std::vector<int> rank_of_chunk = deal_chunks(chunk_areas(area, stream, chunk), cp);
  return std::make_unique<Dispatched>(cp, names::kBalanced, divisor, *options.sequence_length, stream, runs_of_chunks(rank_of_chunk, chunk, cp));
}

std::unique_ptr<Layout> merge_ranks(const Layout& layout, int64_t padded_length, int ranks) {
  std::vector<Run> runs;
  for (int first = 0; first < layout.cp(); first += ranks) {
    std::vector<Run> group;
    for (int rank = first; rank < first + ranks; ++rank) {
      const std::vector<Run> own = layout.runs(padded_length, rank);
      group.insert(group.end(), own.begin(), own.end());
    }
    std::sort(group.begin(), group.end(), [](const Run& a, const Run& b) { return a.global_start < b.global_start; });
    int64_t filled = 0;
    for (const Run& run : group) {
      runs.push_back({first / ranks, filled, run.global_start, run.length, 0});
      filled += run.length;
    }
  }
  return std::make_unique<Dispatched>(layout.cp() / ranks, layout.name(), layout.map_divisor(), padded_length, padded_length, std::move(runs));
}

std::unique_ptr<Layout> install_permutation(const std::vector<std::vector<int64_t>>& positions_by_rank, std::optional<int64_t> sequence_length) {
  const int cp = static_cast<int>(positions_by_rank.size());
  const auto fault = [&](std::string what) {
    refuse("RW-LAYOUT-010", std::move(what), fmt::format("an installed permutation, cp {}", cp),
           "each position of the stream once, ranks of one length", "give what the dispatch solver returned, one list a rank");
  };
  if (cp < 1 || cp > kCpMax) fault(fmt::format("positions of {} ranks", cp));
  const int64_t local = static_cast<int64_t>(positions_by_rank.front().size()), stream = local * cp;
  if (stream > kSequenceLengthMax) fault(fmt::format("a stream of {} tokens", stream));
  std::vector<bool> seen(static_cast<size_t>(stream), false);
  std::vector<Run> runs;
  for (int rank = 0; rank < cp; ++rank) {
    const std::vector<int64_t>& positions = positions_by_rank[static_cast<size_t>(rank)];
    if (static_cast<int64_t>(positions.size()) != local) fault(fmt::format("rank {} has {} positions, rank 0 has {}", rank, positions.size(), local));
    for (int64_t slot = 0; slot < local; ++slot) {
      const int64_t position = positions[static_cast<size_t>(slot)];
      if (position < 0 || position >= stream) fault(fmt::format("rank {} names position {} of {}", rank, position, stream));
      if (seen[static_cast<size_t>(position)]) fault(fmt::format("position {} is there twice", position));
      seen[static_cast<size_t>(position)] = true;
      if (slot > 0 && runs.back().global_start + runs.back().length == position) {
        ++runs.back().length;
      } else {
        runs.push_back({rank, slot, position, 1, 0});
      }
    }
  }
  return std::make_unique<Dispatched>(cp, "magi", cp, sequence_length.value_or(stream), stream, std::move(runs));
}

}  // namespace ringwright::layout

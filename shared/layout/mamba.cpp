#include "shared/layout/mamba.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

void append_range(std::vector<int64_t>& to, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to.push_back(first + i);
}

[[noreturn]] void refuse_share(std::string what, std::string expected) {
  refuse("RW-MAMBA-001", std::move(what), "Mamba under context parallelism", std::move(expected),
         "choose a cp that fits the model's heads and groups");
}

// Refuses offsets that the layout thd refuses.
std::unique_ptr<Layout> thd_of(const std::vector<int64_t>& offsets, int cp) { return make_layout("thd", cp, {.document_offsets = offsets}); }

}  // namespace

MambaShare mamba_share(const MambaShape& shape, int cp) {
  if (cp < 1 || shape.heads < 1 || shape.groups < 1) {
    refuse_share(fmt::format("{} heads in {} groups over cp = {}", shape.heads, shape.groups, cp), "at least one of each");
  }
  if (shape.heads % cp != 0) {
    refuse_share(fmt::format("{} heads cannot be shared by cp = {} (remainder {})", shape.heads, cp, shape.heads % cp), "heads that cp divides");
  }
  const bool repeats = shape.groups < cp;
  if (repeats ? cp % shape.groups != 0 : shape.groups % cp != 0) {
    refuse_share(fmt::format("{} groups do not fit cp = {}", shape.groups, cp),
                 repeats ? "a cp that the number of groups divides" : "groups that cp divides");
  }
  return {shape.heads / cp, shape.heads / cp * shape.head_size, repeats ? 1 : shape.groups / cp, repeats ? cp / shape.groups : 1};
}

std::vector<int64_t> MambaSlices::conv_channels() const {
  std::vector<int64_t> channels;
  for (const ChannelRange& range : {conv_x, conv_b, conv_c}) append_range(channels, range.start, range.length);
  return channels;
}

MambaSlices mamba_slices(const MambaShape& shape, int cp, int rank) {
  const MambaShare share = mamba_share(shape, cp);
  if (rank < 0 || rank >= cp) {
    refuse("RW-LAYOUT-002", fmt::format("rank {} is outside a group of cp = {}", rank, cp), "Mamba under context parallelism",
           fmt::format("a rank from 0 to {}", cp - 1), "use the rank inside the cp group, not the global rank");
  }
  const int64_t inner = shape.heads * shape.head_size, grouped = shape.groups * shape.state;
  const int64_t width = share.groups * shape.state, start = rank / share.group_repeat * width;
  return {.heads = {rank * share.heads, share.heads},
          .conv_x = {rank * share.inner_width, share.inner_width},
          .conv_b = {inner + start, width},
          .conv_c = {inner + grouped + start, width},
          .projected = {{0, inner}, {inner, inner}, {2 * inner, grouped}, {2 * inner + grouped, grouped}, {2 * inner + 2 * grouped, shape.heads}}};
}

std::vector<int64_t> group_repeat_order(const MambaShape& shape, int cp) {
  const MambaShare share = mamba_share(shape, cp);
  std::vector<int64_t> order;
  order.reserve(static_cast<size_t>(shape.groups * shape.state * share.group_repeat));
  for (int64_t group = 0; group < shape.groups; ++group) {
    for (int64_t copy = 0; copy < share.group_repeat; ++copy) append_range(order, group * shape.state, shape.state);
  }
  return order;
}

std::vector<int64_t> undo_order(const Layout& layout, int64_t padded_length) {
  if (layout.replicates()) {
    refuse("RW-MAMBA-002", fmt::format("the layout {} keeps the sequence on each of {} ranks", layout.name(), layout.cp()),
           "Mamba under context parallelism", "a layout that cuts the sequence", "choose round_robin, contiguous, thd or balanced");
  }
  return layout.gather_order(padded_length);
}

std::vector<int64_t> redo_order(const Layout& layout, int64_t padded_length) { return inverse(undo_order(layout, padded_length)); }

std::vector<int64_t> deinterleave_order(const std::vector<int64_t>& offsets, int cp) {
  const int64_t local = thd_of(offsets, cp)->local_length(offsets.back());
  std::vector<int64_t> order;
  order.reserve(static_cast<size_t>(offsets.back()));
  for (size_t d = 0; d + 1 < offsets.size(); ++d) {
    const int64_t start = offsets[d] / cp, length = offsets[d + 1] / cp - start;
    for (int64_t rank = 0; rank < cp; ++rank) append_range(order, rank * local + start, length);
  }
  return order;
}

std::vector<int64_t> reinterleave_order(const std::vector<int64_t>& offsets, int cp) { return inverse(deinterleave_order(offsets, cp)); }

std::vector<int64_t> document_undo_order(const std::vector<int64_t>& offsets, int cp) {
  thd_of(offsets, cp);
  std::vector<int64_t> order;
  order.reserve(static_cast<size_t>(offsets.back()));
  for (size_t d = 0; d + 1 < offsets.size(); ++d) {
    const int64_t length = offsets[d + 1] - offsets[d];
    if (length == 0) continue;
    const std::vector<int64_t> own = make_layout("thd", cp, {.document_offsets = {0, length}})->gather_order(length);
    for (int64_t position : own) order.push_back(offsets[d] + position);
  }
  return order;
}

std::vector<int64_t> document_redo_order(const std::vector<int64_t>& offsets, int cp) { return inverse(document_undo_order(offsets, cp)); }

std::vector<int64_t> local_offsets(const std::vector<int64_t>& offsets, int cp) {
  thd_of(offsets, cp);
  std::vector<int64_t> local(offsets);
  for (int64_t& offset : local) offset /= cp;
  return local;
}

std::vector<int32_t> sequence_index(const std::vector<int64_t>& offsets, int64_t length) {
  const auto fault = [&](std::string what) {
    refuse("RW-MAMBA-003", std::move(what), "sequence index", fmt::format("global cumulative lengths from 0 to at most {}", length),
           "give the lengths as they were before the stream was cut; they are global already");
  };
  if (offsets.empty() || offsets.front() != 0) fault("the document offsets do not start at 0");
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) fault(fmt::format("document offset {} falls from {} to {}", i, offsets[i - 1], offsets[i]));
  }
  if (offsets.back() > length) fault(fmt::format("the documents end at {}, behind the stream of {} tokens", offsets.back(), length));
  std::vector<int32_t> index(static_cast<size_t>(length), static_cast<int32_t>(offsets.size() - 1));
  for (size_t d = 0; d + 1 < offsets.size(); ++d) {
    std::fill(index.begin() + offsets[d], index.begin() + offsets[d + 1], static_cast<int32_t>(d));
  }
  return index;
}

}  // namespace ringwright::layout

#include "console/gui/data/layout_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/layout/mask_area.h"

namespace ringwright::gui {
namespace {

constexpr int64_t kChunksMax = 256;  // of balanced

// How much of [start, start + length) lies below `limit`.
int64_t below(int64_t start, int64_t length, int64_t limit) { return std::clamp<int64_t>(limit - start, 0, length); }

// One document under thd is head-tail too.
bool heads_and_tails(const std::string& layout) { return layout == "round_robin" || layout == "thd"; }

const LayoutBlock* block_at(const LayoutPicture& picture, int64_t global_position) {
  auto after = std::upper_bound(picture.blocks.begin(), picture.blocks.end(), global_position,
                                [](int64_t position, const LayoutBlock& block) { return position < block.global_start; });
  if (after == picture.blocks.begin()) return nullptr;
  const LayoutBlock& block = *--after;
  return global_position < block.global_start + block.length ? &block : nullptr;
}

void count(LayoutPicture& picture, const layout::Run& run) {
  LayoutRank& rank = picture.ranks[static_cast<size_t>(run.rank)];
  const int64_t tokens = below(run.global_start, run.length, picture.question.tokens);
  const int64_t in_batch = below(run.global_start, run.length, picture.question.batch_slots);
  rank.slots += run.length;
  rank.tokens += tokens;
  rank.batch_padding += in_batch - tokens;
  rank.layout_padding += run.length - in_batch;
}

}  // namespace

LayoutPicture picture_layout(const LayoutQuestion& question) {
  const layout::MaskArea area({}, question.tokens);
  // One document; chunks that are large enough to be told apart.
  const layout::Options options{.document_offsets = {0, round_up(question.batch_slots, int64_t{2} * std::max(question.cp, 1))},
                                .sequence_length = question.batch_slots,
                                .chunk = std::clamp(question.batch_slots / kChunksMax, layout::kChunkDefault, layout::kChunkMax)};
  const auto layout = layout::make_layout(question.layout, question.cp, options);
  LayoutPicture picture{question, layout->padded_length(question.batch_slots), {}, {}, 0, question.cp > 1 && question.layout == "none"};
  picture.ranks.resize(static_cast<size_t>(question.cp));
  const int64_t chunk = std::max<int64_t>(1, heads_and_tails(question.layout) ? picture.padded_length / (2 * question.cp) : picture.padded_length);
  for (const layout::Run& run : layout->runs(picture.padded_length)) {
    count(picture, run);
    if (picture.replicated && run.rank > 0) continue;
    // The last rank's head and tail touch: one run, but two chunks.
    for (int64_t done = 0; done < run.length; done += chunk) {
      picture.blocks.push_back(
          {run.rank, run.local_start + done, run.global_start + done, std::min(chunk, run.length - done), run.local_start + done > 0});
    }
  }
  std::sort(picture.blocks.begin(), picture.blocks.end(), [](const LayoutBlock& a, const LayoutBlock& b) { return a.global_start < b.global_start; });
  for (size_t i = 0; i < picture.blocks.size(); ++i) picture.blocks[i].chunk = static_cast<int64_t>(i);
  double sum = 0;
  for (int rank = 0; rank < question.cp; ++rank) {
    LayoutRank& entry = picture.ranks[static_cast<size_t>(rank)];
    entry.causal_work = layout->work(area, picture.padded_length, rank);
    sum += static_cast<double>(entry.causal_work);
    if (entry.causal_work > picture.ranks[static_cast<size_t>(picture.slowest)].causal_work) picture.slowest = rank;
  }
  for (LayoutRank& rank : picture.ranks) rank.of_mean = sum > 0 ? static_cast<double>(rank.causal_work) * question.cp / sum : 0;
  return picture;
}

std::string describe_position(const LayoutPicture& picture, int64_t global_position) {
  const LayoutBlock* block = block_at(picture, global_position);
  if (block == nullptr) return "";
  const bool halves = heads_and_tails(picture.question.layout);
  std::string place =
      fmt::format("rank {}, slot {}{}, global {}", block->rank, text::format_count(block->local_start + global_position - block->global_start),
                  halves ? (block->tail ? " (tail)" : " (head)") : "", text::format_count(global_position));
  if (picture.replicated) place = fmt::format("every rank, slot {0}, global {0}", text::format_count(global_position));
  if (global_position >= picture.question.batch_slots) return place + ", padding of the layout";
  return global_position >= picture.question.tokens ? place + ", padding of the batch" : place;
}

std::vector<std::pair<int64_t, int64_t>> moved_tokens(const LayoutPicture& picture, const LayoutPicture& other) {
  std::vector<std::pair<int64_t, int64_t>> moved;
  const int64_t end = std::min(picture.padded_length, other.padded_length);
  for (int64_t position = 0; position < end;) {
    const LayoutBlock* mine = block_at(picture, position);
    const LayoutBlock* theirs = block_at(other, position);
    if (mine == nullptr || theirs == nullptr) break;
    const int64_t next = std::min({end, mine->global_start + mine->length, theirs->global_start + theirs->length});
    if (mine->rank != theirs->rank) {
      if (!moved.empty() && moved.back().second == position) {
        moved.back().second = next;
      } else {
        moved.emplace_back(position, next);
      }
    }
    position = next;
  }
  return moved;
}

std::string summary_sentence(const LayoutPicture& picture, const LayoutPicture* other) {
  const auto slowest = [](const LayoutPicture& of) { return of.ranks.empty() ? 0.0 : of.ranks[static_cast<size_t>(of.slowest)].of_mean * 100; };
  std::string sentence = fmt::format("Slowest rank: {:.0f} % of the mean with {}", slowest(picture), picture.question.layout);
  if (other != nullptr) {
    sentence += fmt::format(", {:.0f} % with {}", slowest(*other), other->question.layout);
    if (other->layout_padding() != picture.layout_padding()) {
      sentence +=
          fmt::format("; layout padding {} against {}", text::format_count(picture.layout_padding()), text::format_count(other->layout_padding()));
    }
  }
  return sentence + ".";
}

}  // namespace ringwright::gui

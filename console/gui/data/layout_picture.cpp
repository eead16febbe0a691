#include "console/gui/data/layout_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "shared/base/rounding.h"
#include "shared/base/text.h"
#include "shared/layout/mask_area.h"
#include "shared/layout/names.h"

namespace ringwright::gui {
namespace {

constexpr int64_t kChunksMax = 256;  // of balanced, where nobody says how long they are

// Of each document.
int64_t slots_of(const LayoutQuestion& question) { return question.batch_slots / question.documents; }
int64_t tokens_of(const LayoutQuestion& question) { return question.tokens / question.documents; }

// Slots before a position, when each document has so many and they stand at its start.
int64_t before(const LayoutPicture& picture, int64_t position, int64_t of_document) {
  const int64_t whole = std::min(position / picture.document_slots, picture.question.documents);
  const int64_t rest = whole < picture.question.documents ? std::min(of_document, position - whole * picture.document_slots) : 0;
  return whole * of_document + rest;
}

void count(LayoutPicture& picture, const layout::Run& run) {
  LayoutRank& rank = picture.ranks[static_cast<size_t>(run.rank)];
  const int64_t end = run.global_start + run.length, tokens = tokens_between(picture, run.global_start, end);
  const int64_t slots = slots_of(picture.question), in_batch = before(picture, end, slots) - before(picture, run.global_start, slots);
  rank.slots += run.length;
  rank.tokens += tokens;
  rank.batch_padding += in_batch - tokens;
  rank.layout_padding += run.length - in_batch;
}

// Pairs of the run's queries with the keys of their documents. `area`: of one document.
int64_t causal_pairs(const LayoutPicture& picture, const layout::MaskArea& area, const layout::Run& run) {
  int64_t pairs = 0;
  const int64_t end = run.global_start + run.length;
  for (int64_t at = run.global_start; at < end;) {
    const int64_t document = at / picture.document_slots;
    if (document >= picture.question.documents) break;
    const int64_t behind = std::min(end, (document + 1) * picture.document_slots);
    pairs += area.pairs(at - document * picture.document_slots, behind - at);
    at = behind;
  }
  return pairs;
}

std::unique_ptr<layout::Layout> layout_of(const LayoutQuestion& question, int64_t document_slots) {
  layout::Options options{.sequence_length = question.batch_slots, .chunk = question.chunk};
  if (question.chunk == 0)
    options.chunk = std::clamp(question.batch_slots / kChunksMax, layout::default_chunk(question.batch_slots, question.cp), layout::kChunkMax);
  // thd pads one document by itself; several stand at multiples of what it needs.
  const int64_t slots = question.documents > 1 ? document_slots : round_up(document_slots, int64_t{2} * std::max(question.cp, 1));
  for (int64_t document = 0; document <= question.documents; ++document) options.document_offsets.push_back(document * slots);
  if (question.documents > 1) {
    options.sequence_length = document_slots * question.documents;
    options.mask.document_offsets = options.document_offsets;
  }
  return layout::make_layout(question.layout, question.cp, options);
}

void add_blocks(LayoutPicture& picture, const layout::Run& run) {
  if (picture.replicated && run.rank > 0) return;
  const int64_t chunks = 2 * static_cast<int64_t>(picture.question.cp);
  int64_t chunk = picture.padded_length;
  if (picture.has_halves())
    chunk =
        (picture.question.layout == layout::names::kThd && picture.question.documents > 1 ? picture.document_slots : picture.padded_length) / chunks;
  chunk = std::max<int64_t>(1, chunk);
  // The last rank's head and tail touch: one run, but two chunks.
  for (int64_t done = 0; done < run.length; done += chunk) {
    const int64_t local_start = run.local_start + done;
    picture.blocks.push_back({run.rank, local_start, run.global_start + done, std::min(chunk, run.length - done), local_start / chunk % 2 == 1});
  }
}

void order_blocks(LayoutPicture& picture) {
  std::sort(picture.blocks.begin(), picture.blocks.end(), [](const LayoutBlock& a, const LayoutBlock& b) { return a.global_start < b.global_start; });
  for (size_t i = 0; i < picture.blocks.size(); ++i) {
    picture.blocks[i].chunk = static_cast<int64_t>(i);
    if (picture.replicated) {
      for (LayoutRank& rank : picture.ranks) rank.blocks.push_back(i);
    } else {
      picture.ranks[static_cast<size_t>(picture.blocks[i].rank)].blocks.push_back(i);
    }
  }
  for (LayoutRank& rank : picture.ranks) {
    std::sort(rank.blocks.begin(), rank.blocks.end(),
              [&](size_t a, size_t b) { return picture.blocks[a].local_start < picture.blocks[b].local_start; });
  }
}

void weigh(LayoutPicture& picture) {
  double sum = 0;
  for (const LayoutRank& rank : picture.ranks) sum += static_cast<double>(rank.causal_work);
  for (size_t rank = 0; rank < picture.ranks.size(); ++rank) {
    LayoutRank& entry = picture.ranks[rank];
    entry.of_mean = sum > 0 ? static_cast<double>(entry.causal_work) * picture.question.cp / sum : 0;
    if (entry.causal_work > picture.ranks[static_cast<size_t>(picture.slowest)].causal_work) picture.slowest = static_cast<int>(rank);
  }
}

}  // namespace

bool LayoutPicture::has_halves() const {
  return question.cp > 1 && (question.layout == layout::names::kRoundRobin || question.layout == layout::names::kThd);
}

LayoutPicture picture_layout(const LayoutQuestion& question) {
  LayoutPicture picture;
  picture.question = question;
  picture.document_slots = slots_of(question);
  if (question.documents > 1 && question.layout == layout::names::kThd)
    picture.document_slots = round_up(picture.document_slots, layout::document_multiple(question.layout, question.cp));
  const auto layout = layout_of(question, picture.document_slots);
  picture.padded_length = layout->padded_length(question.documents > 1 ? picture.document_slots * question.documents : question.batch_slots);
  picture.replicated = layout->replicates();
  picture.ranks.resize(static_cast<size_t>(question.cp));
  const layout::MaskArea area({}, tokens_of(question));
  for (const layout::Run& run : layout->runs(picture.padded_length)) {
    count(picture, run);
    picture.ranks[static_cast<size_t>(run.rank)].causal_work += causal_pairs(picture, area, run);
    add_blocks(picture, run);
  }
  order_blocks(picture);
  weigh(picture);
  return picture;
}

size_t block_index(const LayoutPicture& picture, int64_t global_position) {
  const auto after = std::upper_bound(picture.blocks.begin(), picture.blocks.end(), global_position,
                                      [](int64_t position, const LayoutBlock& block) { return position < block.global_start; });
  if (after == picture.blocks.begin() || global_position >= std::prev(after)->global_end()) return picture.blocks.size();
  return static_cast<size_t>(after - picture.blocks.begin()) - 1;
}

int64_t tokens_between(const LayoutPicture& picture, int64_t start, int64_t end) {
  const int64_t tokens = tokens_of(picture.question);
  return before(picture, end, tokens) - before(picture, start, tokens);
}

void padded_stretches_into(std::vector<PaddedStretch>& stretches, const LayoutPicture& picture, int64_t start, int64_t end) {
  stretches.clear();
  const auto add = [&](int64_t from, int64_t to, bool of_layout) {
    from = std::max(from, start), to = std::min(to, end);
    if (from >= to) return;
    if (!stretches.empty() && stretches.back().end == from && stretches.back().of_layout == of_layout) {
      stretches.back().end = to;
    } else {
      stretches.push_back({from, to, of_layout});
    }
  };
  const int64_t documents = picture.question.documents, tokens = tokens_of(picture.question), slots = slots_of(picture.question);
  for (int64_t document = start / picture.document_slots; document < documents && document * picture.document_slots < end; ++document) {
    const int64_t at = document * picture.document_slots;
    add(at + tokens, at + slots, false);
    add(at + slots, at + picture.document_slots, true);
  }
  add(documents * picture.document_slots, picture.padded_length, true);
}

std::vector<PaddedStretch> padded_stretches(const LayoutPicture& picture, int64_t start, int64_t end) {
  std::vector<PaddedStretch> stretches;
  padded_stretches_into(stretches, picture, start, end);
  return stretches;
}

std::string describe_position(const LayoutPicture& picture, int64_t global_position) {
  const size_t index = block_index(picture, global_position);
  if (index == picture.blocks.size()) return "";
  const LayoutBlock& block = picture.blocks[index];
  std::string place = fmt::format("rank {}, slot {}{}, global {}", block.rank, text::format_count(local_slot(block, global_position)),
                                  picture.has_halves() ? (block.tail ? " (tail)" : " (head)") : "", text::format_count(global_position));
  if (picture.replicated) place = fmt::format("every rank, slot {0}, global {0}", text::format_count(global_position));
  const int64_t document = global_position / picture.document_slots;
  if (picture.question.documents > 1 && document < picture.question.documents)
    place += fmt::format(", document {} at {}", document, text::format_count(global_position - document * picture.document_slots));
  const auto padded = padded_stretches(picture, global_position, global_position + 1);
  if (padded.empty()) return place;
  return place + (padded.front().of_layout ? ", padding of the layout" : ", padding of the batch");
}

std::vector<std::pair<int64_t, int64_t>> moved_tokens(const LayoutPicture& picture, const LayoutPicture& other) {
  std::vector<std::pair<int64_t, int64_t>> moved;
  const int64_t end = std::min(picture.padded_length, other.padded_length);
  for (int64_t position = 0; position < end;) {
    const size_t in_mine = block_index(picture, position), in_theirs = block_index(other, position);
    if (in_mine == picture.blocks.size() || in_theirs == other.blocks.size()) break;
    const LayoutBlock &mine = picture.blocks[in_mine], &theirs = other.blocks[in_theirs];
    const int64_t next = std::min({end, mine.global_end(), theirs.global_end()});
    if (mine.rank != theirs.rank) {
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

// Cuts a text into the pieces that byte-pair encoding never merges across.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/tokenizer/pattern.h"

namespace ringwright::tokenizer {

// A piece and where its bytes lie in the text: byte i is byte max(origin + i, floor) there. A space that was put in front of the piece has no byte of
// its own and counts as the first one.
struct Piece {
  std::string_view bytes;
  int64_t origin;
  int64_t floor;
};

// One step: cut at a pattern (Split, or ByteLevel with its own pattern), or only mark the bytes (ByteLevel without).
struct SplitStep {
  std::optional<Pattern> pattern;
  bool keep_matches = true;
  bool keep_gaps = true;
  bool add_prefix_space = false;
};

struct SplitScratch {
  MatchState match;
  std::string prefixed;
};

class PreTokenizer {
 public:
  explicit PreTokenizer(std::vector<SplitStep> steps) : steps_(std::move(steps)) {}

  // Calls `take(const Piece&)` for each piece of `text`, in order; `origin` is the place of `text` in the whole.
  template <typename Take>
  void run(std::string_view text, int64_t origin, SplitScratch& scratch, const Take& take) const {
    if (!text.empty()) run_step(0, {text, origin, origin}, scratch, take);
  }

 private:
  template <typename Take>
  void run_step(size_t index, const Piece& piece, SplitScratch& scratch, const Take& take) const;

  std::vector<SplitStep> steps_;
};

template <typename Take>
void PreTokenizer::run_step(size_t index, const Piece& given, SplitScratch& scratch, const Take& take) const {
  if (index == steps_.size()) return take(given);
  const SplitStep& step = steps_[index];
  Piece piece = given;
  if (step.add_prefix_space && piece.bytes.front() != ' ') {
    scratch.prefixed.assign(1, ' ');
    scratch.prefixed.append(piece.bytes);
    piece = {scratch.prefixed, piece.origin - 1, piece.origin};
  }
  if (!step.pattern) return run_step(index + 1, piece, scratch, take);
  const auto pass_on = [&](size_t begin, size_t end) {
    if (begin < end)
      run_step(index + 1, {piece.bytes.substr(begin, end - begin), piece.origin + static_cast<int64_t>(begin), piece.floor}, scratch, take);
  };
  size_t done = 0;
  for (size_t from = 0; from < piece.bytes.size();) {
    Pattern::Match match{};
    if (!step.pattern->find(piece.bytes, from, scratch.match, match)) break;
    if (step.keep_gaps) pass_on(done, match.begin);
    if (step.keep_matches) pass_on(match.begin, match.end);
    done = match.end;
    from = match.end;
    if (match.end > match.begin || from >= piece.bytes.size()) continue;
    do ++from;  // an empty match: go on behind the next character
    while (from < piece.bytes.size() && (static_cast<uint8_t>(piece.bytes[from]) & 0xC0) == 0x80);
  }
  if (step.keep_gaps) pass_on(done, piece.bytes.size());
}

}  // namespace ringwright::tokenizer

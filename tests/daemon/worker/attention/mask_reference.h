// Masks, pair by pair, written from their description alone; and a set of masks over sequences of any length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/layout/layout.h"
#include "shared/layout/mask.h"

namespace ringwright::test {

// Does query q see key k?
bool sees(const layout::Mask& mask, int64_t q, int64_t k);

struct NamedMask {
  std::string name;
  layout::Mask mask;
};

// Every kind of mask, alone and with a window, over the first `tokens` tokens of a padded sequence: what stands behind them sees nothing and is
// not seen, but under the plain causal masks, where padding comes last and nobody looks back at it.
std::vector<NamedMask> all_masks(int64_t tokens);

struct NamedLayout {
  std::string name;
  std::shared_ptr<const layout::Layout> layout;
  int64_t padded_length;
  layout::Mask mask;
};

// The layouts that take `tokens` tokens under the mask: round_robin, contiguous, balanced with small chunks, and thd for packed documents, which are
// padded one by one, so that its mask is another one.
std::vector<NamedLayout> all_layouts(int cp, int64_t tokens, const layout::Mask& mask);

}  // namespace ringwright::test

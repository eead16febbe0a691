// A sample's tokens with the loss of each, as far as its sender gave them: its fields `tokens` (texts), `token_losses` (numbers, null where nothing
// is trained) and `token_ids`, lists of one length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::gui {

struct SampleToken {
  std::string text;  // as it is shown: a space is a dot, a line end "\n"
  std::optional<double> loss;
  std::optional<int64_t> id;
};
// Empty where the sample has no tokens. Lists of another length than `tokens` count as not given.
std::vector<SampleToken> sample_tokens(const history::SampleRecord& sample);

// The largest finite loss, at least 0; nullopt: no token has one.
std::optional<double> largest_loss(const std::vector<SampleToken>& tokens);
// How strongly a token is tinted: 0 for a loss of 0 or none, 1 for the largest and for one that is not finite.
double tint_of(const SampleToken& token, double largest);

}  // namespace ringwright::gui

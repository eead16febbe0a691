#include "console/gui/data/sample_tokens.h"

#include <algorithm>
#include <cmath>

#include "console/gui/data/sample_text.h"

namespace ringwright::gui {
namespace {

// Null: the sample has no such list of this length.
const nlohmann::json* list_in(const history::SampleRecord& sample, const char* field, size_t size) {
  const auto found = sample.body.find(field);
  return found != sample.body.end() && found->is_array() && found->size() == size ? &*found : nullptr;
}

}  // namespace

std::vector<SampleToken> sample_tokens(const history::SampleRecord& sample) {
  std::vector<SampleToken> tokens;
  const auto texts = sample.body.find("tokens");
  if (texts == sample.body.end() || !texts->is_array()) return tokens;
  const nlohmann::json* losses = list_in(sample, "token_losses", texts->size());
  const nlohmann::json* ids = list_in(sample, "token_ids", texts->size());
  for (size_t i = 0; i < texts->size(); ++i) {
    SampleToken token;
    if ((*texts)[i].is_string()) token.text = token_text((*texts)[i].get_ref<const std::string&>());
    if (losses != nullptr && (*losses)[i].is_number()) token.loss = (*losses)[i].get<double>();
    if (ids != nullptr && (*ids)[i].is_number_integer()) token.id = (*ids)[i].get<int64_t>();
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::optional<double> largest_loss(const std::vector<SampleToken>& tokens) {
  std::optional<double> largest;
  for (const SampleToken& token : tokens)
    if (token.loss && std::isfinite(*token.loss)) largest = std::max(largest.value_or(0), *token.loss);
  return largest;
}

double tint_of(const SampleToken& token, double largest) {
  if (!token.loss) return 0;
  if (!std::isfinite(*token.loss)) return 1;
  return largest > 0 ? std::clamp(*token.loss / largest, 0.0, 1.0) : 0;
}

}  // namespace ringwright::gui

#include "console/gui/data/token_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/gui/data/sample_text.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

std::vector<std::string> tokens_in(const nlohmann::json& pair, const char* side) {
  std::vector<std::string> tokens;
  const auto found = pair.find(side);
  if (found == pair.end() || !found->is_array()) return tokens;
  for (const nlohmann::json& token : *found)
    if (token.is_string()) tokens.push_back(token_text(token.get_ref<const std::string&>()));
  return tokens;
}

size_t count_of(const std::vector<TokenPair>& pairs, PairKind kind) {
  return static_cast<size_t>(std::count_if(pairs.begin(), pairs.end(), [&](const TokenPair& pair) { return pair.kind == kind; }));
}

}  // namespace

std::vector<TokenPair> token_pairs(const history::SampleRecord& sample) {
  std::vector<TokenPair> pairs;
  const auto found = sample.body.find("pairs");
  if (found == sample.body.end() || !found->is_array()) return pairs;
  for (const nlohmann::json& each : *found) {
    if (!each.is_object()) continue;
    TokenPair pair{tokens_in(each, "student"), tokens_in(each, "teacher")};
    if (pair.student.empty() && pair.teacher.empty()) continue;
    const auto correct = each.find("correct");
    if (correct == each.end() || !correct->is_boolean() || !correct->get<bool>())
      pair.kind = PairKind::not_the_same;
    else if (pair.student.size() != 1 || pair.teacher.size() != 1)
      pair.kind = PairKind::several;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::string pairs_sentence(const std::vector<TokenPair>& pairs) {
  return fmt::format("{} pair{}: {} one to one, {} of several tokens, {} not the same", text::format_count(static_cast<int64_t>(pairs.size())),
                     pairs.size() == 1 ? "" : "s", count_of(pairs, PairKind::one_to_one), count_of(pairs, PairKind::several),
                     count_of(pairs, PairKind::not_the_same));
}

}  // namespace ringwright::gui

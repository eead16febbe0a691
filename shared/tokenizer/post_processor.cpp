#include "shared/tokenizer/post_processor.h"

#include <algorithm>

namespace ringwright::tokenizer {
namespace {

void trim_offsets(PairEncoding& encoding, const std::vector<TokenSpaces>& spaces, bool keeps_prefix) {
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    auto& [begin, end] = encoding.offsets[i];
    const TokenSpaces& token = spaces[static_cast<size_t>(encoding.ids[i])];
    const bool first = i == 0 || begin == 0;
    if (!(first && keeps_prefix)) begin = std::min<int64_t>(begin + token.leading, end);
    if (end >= token.trailing) end = std::max<int64_t>(end - token.trailing, begin);
  }
}

void append(PairEncoding& to, const PairEncoding& from) {
  to.ids.insert(to.ids.end(), from.ids.begin(), from.ids.end());
  to.offsets.insert(to.offsets.end(), from.offsets.begin(), from.offsets.end());
  to.type_ids.insert(to.type_ids.end(), from.type_ids.begin(), from.type_ids.end());
}

PairEncoding fill_template(const std::vector<TemplateItem>& items, std::vector<PairEncoding>& texts) {
  PairEncoding result;
  for (const TemplateItem& item : items) {
    if (item.sequence >= 0) {
      PairEncoding& text = texts.at(static_cast<size_t>(item.sequence));
      text.type_ids.assign(text.ids.size(), item.type_id);
      append(result, text);
    } else {
      result.ids.insert(result.ids.end(), item.special.begin(), item.special.end());
      result.offsets.insert(result.offsets.end(), item.special.size(), {0, 0});
      result.type_ids.insert(result.type_ids.end(), item.special.size(), item.type_id);
    }
  }
  return result;
}

}  // namespace

PairEncoding PostProcessor::run(std::vector<PairEncoding> texts, const std::vector<TokenSpaces>& spaces, bool with_template) const {
  for (size_t i = 0; i < texts.size(); ++i) texts[i].type_ids.assign(texts[i].ids.size(), static_cast<int64_t>(i));
  for (const PostStep& step : steps_) {
    if (step.trims) {
      for (PairEncoding& text : texts) trim_offsets(text, spaces, step.trim_keeps_prefix);
    } else if (with_template) {
      PairEncoding filled = fill_template(texts.size() == 2 ? step.pair : step.single, texts);
      texts.clear();
      texts.push_back(std::move(filled));
    }
  }
  PairEncoding result = std::move(texts.front());
  for (size_t i = 1; i < texts.size(); ++i) append(result, texts[i]);
  return result;
}

}  // namespace ringwright::tokenizer

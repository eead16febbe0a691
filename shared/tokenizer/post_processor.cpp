#include "shared/tokenizer/post_processor.h"

#include <algorithm>

namespace ringwright::tokenizer {
namespace {

void trim_offsets(Tokenized& text, const std::vector<TokenSpaces>& spaces, bool keeps_prefix) {
  size_t next_added = 0;
  for (size_t i = 0; i < text.encoding.ids.size(); ++i) {
    auto& [begin, end] = text.encoding.offsets[i];
    TokenSpaces token = spaces[static_cast<size_t>(text.encoding.ids[i])];
    if (next_added < text.added.size() && text.added[next_added].first == i) token = text.added[next_added++].second;
    const bool first = i == 0 || begin == 0;
    if (!(first && keeps_prefix && token.leading == 1)) begin = std::min<int64_t>(begin + token.leading, end);
    if (end >= token.trailing) end = std::max<int64_t>(end - token.trailing, begin);
  }
}

void append(Tokenized& to, const Tokenized& from) {
  PairEncoding& target = to.encoding;
  const PairEncoding& source = from.encoding;
  for (const auto& [index, spaces] : from.added) to.added.emplace_back(target.ids.size() + index, spaces);
  target.ids.insert(target.ids.end(), source.ids.begin(), source.ids.end());
  target.offsets.insert(target.offsets.end(), source.offsets.begin(), source.offsets.end());
  target.type_ids.insert(target.type_ids.end(), source.type_ids.begin(), source.type_ids.end());
}

void append_special(Tokenized& to, const TemplateItem& item) {
  PairEncoding& target = to.encoding;
  target.ids.insert(target.ids.end(), item.special.begin(), item.special.end());
  target.offsets.insert(target.offsets.end(), item.special.size(), {0, 0});
  target.type_ids.insert(target.type_ids.end(), item.special.size(), item.type_id);
}

Tokenized fill_template(const std::vector<TemplateItem>& items, std::vector<Tokenized>& texts) {
  Tokenized result;
  for (const TemplateItem& item : items) {
    if (item.sequence < 0) {
      append_special(result, item);
      continue;
    }
    Tokenized& text = texts.at(static_cast<size_t>(item.sequence));
    text.encoding.type_ids.assign(text.encoding.ids.size(), item.type_id);
    append(result, text);
  }
  return result;
}

}  // namespace

PairEncoding PostProcessor::run(std::vector<Tokenized> texts, const std::vector<TokenSpaces>& spaces, bool with_template) const {
  for (size_t i = 0; i < texts.size(); ++i) texts[i].encoding.type_ids.assign(texts[i].encoding.ids.size(), static_cast<int64_t>(i));
  for (const PostStep& step : steps_) {
    if (step.trims) {
      for (Tokenized& text : texts) trim_offsets(text, spaces, step.trim_keeps_prefix);
    } else if (with_template) {
      Tokenized filled = fill_template(texts.size() == 2 ? step.pair : step.single, texts);
      texts.clear();
      texts.push_back(std::move(filled));
    }
  }
  for (size_t i = 1; i < texts.size(); ++i) append(texts.front(), texts[i]);
  return std::move(texts.front().encoding);
}

}  // namespace ringwright::tokenizer

#include "shared/tokenizer/added_tokens.h"

#include <algorithm>

#include "shared/tokenizer/utf8.h"

namespace ringwright::tokenizer {
namespace {

// Start of the white space that ends at `end`.
size_t space_before(std::string_view text, size_t end) {
  while (end > 0) {
    const size_t start = utf8::previous(text, end);
    if (!utf8::is_space(utf8::character_at(text, start))) break;
    end = start;
  }
  return end;
}

// End of the white space that starts at `begin`.
size_t space_after(std::string_view text, size_t begin) {
  while (begin < text.size() && utf8::is_space(utf8::character_at(text, begin))) begin += utf8::step(text, begin).length;
  return begin;
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  const bool word_before = begin > 0 && utf8::is_word(utf8::character_at(text, utf8::previous(text, begin)));
  const bool word_after = end < text.size() && utf8::is_word(utf8::character_at(text, end));
  return !word_before && !word_after;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (const AddedToken& token : tokens_) {
    if (token.content.empty()) continue;
    (token.normalized ? normalized_ : raw_)[static_cast<uint8_t>(token.content.front())].push_back(&token);
    any_normalized_ |= token.normalized;
  }
  for (ByFirstByte* lists : {&raw_, &normalized_}) {
    for (auto& list : *lists) {
      std::stable_sort(list.begin(), list.end(), [](const AddedToken* a, const AddedToken* b) { return a->content.size() > b->content.size(); });
    }
  }
}

const AddedToken* AddedTokens::match(const ByFirstByte& tokens, std::string_view text, size_t at) {
  for (const AddedToken* token : tokens[static_cast<uint8_t>(text[at])]) {
    if (text.substr(at).starts_with(token->content)) return token;
  }
  return nullptr;
}

void AddedTokens::cut_section(const ByFirstByte& tokens, std::string_view whole, size_t begin, size_t end, std::vector<Section>& sections) {
  const std::string_view text = whole.substr(begin, end - begin);
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = match(tokens, text, at);
    if (token == nullptr) {
      ++at;
      continue;
    }
    const size_t start = at, stop = at + token->content.size();
    at = stop;
    if (token->single_word && !stands_alone(text, start, stop)) continue;
    const size_t from = token->lstrip ? std::max(space_before(text, start), done) : start;
    const size_t to = token->rstrip ? space_after(text, stop) : stop;
    if (done < from) sections.push_back({begin + done, begin + from, nullptr});
    sections.push_back({begin + from, begin + to, token});
    done = to;
  }
  if (done < text.size()) sections.push_back({begin + done, begin + text.size(), nullptr});
}

void AddedTokens::cut(std::string_view text, std::vector<Section>& sections) const {
  sections.clear();
  cut_section(raw_, text, 0, text.size(), sections);
  if (!any_normalized_) return;
  std::vector<Section> refined;
  for (const Section& section : sections) {
    if (section.token != nullptr) {
      refined.push_back(section);
    } else {
      cut_section(normalized_, text, section.begin, section.end, refined);
    }
  }
  sections.swap(refined);
}

}  // namespace ringwright::tokenizer

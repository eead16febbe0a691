#include "console/gui/data/text_matcher.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>

namespace ringwright::gui {
namespace {

constexpr std::string_view kOperators = "\\.+*?()|[]{}^$";

bool is_plain_character(char c) { return c >= ' ' && c <= '~' && kOperators.find(c) == std::string_view::npos; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

TextMatcher::TextMatcher(const std::string& pattern) {
  if (std::all_of(pattern.begin(), pattern.end(), is_plain_character)) {
    for (const char c : pattern) {
      folds_.push_back(is_letter(c) ? '\x20' : '\0');
      plain_.push_back(static_cast<char>(c | folds_.back()));
    }
  }
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  expression_ = std::make_unique<re2::RE2>(pattern, options);
  if (!expression_->ok()) error_ = expression_->error();
}

TextMatcher::~TextMatcher() = default;

// One pass without a branch, which the compiler turns into wide instructions: is the pattern's first byte anywhere with its last one as far behind?
TextMatcher::Look TextMatcher::look(std::string_view text) const {
  const size_t behind = plain_.size() - 1;
  const auto first = static_cast<uint8_t>(plain_.front()), last = static_cast<uint8_t>(plain_.back());
  const auto fold_first = static_cast<uint8_t>(folds_.front()), fold_last = static_cast<uint8_t>(folds_.back());
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  uint8_t seen = 0, high = 0;
  for (size_t i = 0; i < text.size(); ++i) high = static_cast<uint8_t>(high | bytes[i]);
  if ((high & 0x80) != 0) return Look::not_ascii;
  if (text.size() < plain_.size()) return Look::absent;
  const size_t places = text.size() - behind;
  for (size_t i = 0; i < places; ++i) {
    const bool begins = (bytes[i] | fold_first) == first, ends = (bytes[i + behind] | fold_last) == last;
    seen = static_cast<uint8_t>(seen | (static_cast<uint8_t>(begins) & static_cast<uint8_t>(ends)));
  }
  return seen != 0 ? Look::possible : Look::absent;
}

bool TextMatcher::stands_in(std::string_view text) const {
  const auto* pattern = plain_.data();
  const auto* folds = folds_.data();
  for (size_t at = 0; at + plain_.size() <= text.size(); ++at) {
    size_t same = 0;
    while (same < plain_.size() && static_cast<char>(text[at + same] | folds[same]) == pattern[same]) ++same;
    if (same == plain_.size()) return true;
  }
  return false;
}

// Beyond ASCII a letter has more than two forms (the Kelvin sign is a k): there the automaton decides.
bool TextMatcher::matches(std::string_view text) const {
  if (is_plain()) {
    const Look found = look(text);
    if (found != Look::not_ascii) return found == Look::possible && stands_in(text);
  }
  return re2::RE2::PartialMatch(text, *expression_);
}

}  // namespace ringwright::gui

#include "console/gui/data/sample_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringwright::gui {
namespace {

// Bytes of the UTF-8 character that begins at `at`; 0 when there is none.
size_t character_bytes(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  if (length == 3 && first == 0xE0 && byte(at + 1) < 0xA0) return 0;
  if (length == 3 && first == 0xED && byte(at + 1) >= 0xA0) return 0;
  if (length == 4 && ((first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) >= 0x90))) return 0;
  return length;
}

}  // namespace

std::string sample_field(const history::SampleRecord& sample, const char* field) {
  const auto found = sample.body.find(field);
  if (found == sample.body.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<double> sample_number(const history::SampleRecord& sample, const char* field) {
  const auto found = sample.body.find(field);
  if (found == sample.body.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string visible_bytes(std::string_view text) {
  std::string result, odd;
  const auto flush = [&] {
    if (!odd.empty()) result += "<" + odd + ">";
    odd.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const size_t length = character_bytes(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool shown = length > 1 || (length == 1 && (byte >= 0x20 || byte == '\n' || byte == '\t') && byte != 0x7F);
    if (shown) {
      flush();
      result += text.substr(at, length);
      at += length;
    } else {
      odd += fmt::format("{}{:02X}", odd.empty() ? "" : " ", byte);
      ++at;
    }
  }
  flush();
  return result;
}

std::vector<size_t> samples_at(const std::deque<history::SampleRecord>& samples, std::optional<int64_t> step) {
  std::vector<size_t> found;
  if (samples.empty()) return found;
  std::optional<int64_t> chosen, first;
  for (const history::SampleRecord& sample : samples) {
    if (!first || sample.step < *first) first = sample.step;
    if ((!step || sample.step <= *step) && (!chosen || sample.step > *chosen)) chosen = sample.step;
  }
  const int64_t shown = chosen.value_or(*first);
  for (size_t i = 0; i < samples.size(); ++i)
    if (samples[i].step == shown) found.push_back(i);
  return found;
}

}  // namespace ringwright::gui

#include "console/gui/data/sample_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/text.h"

namespace ringwright::gui {

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

std::string visible_bytes(std::string_view bytes) {
  std::string result, odd;
  const auto flush = [&] {
    if (!odd.empty()) result += "<" + odd + ">";
    odd.clear();
  };
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = text::utf8_sequence_bytes(bytes.substr(at));
    const auto byte = static_cast<unsigned char>(bytes[at]);
    const bool shown = length > 1 || (length == 1 && (byte >= 0x20 || byte == '\n' || byte == '\t') && byte != 0x7F);
    if (shown) {
      flush();
      result += bytes.substr(at, length);
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

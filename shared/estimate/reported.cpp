#include "shared/estimate/reported.h"

#include <algorithm>
#include <iterator>

namespace ringwright::estimate {
namespace {

// What JSON's maps do not keep. A term of a later version comes behind these.
constexpr const char* kOrder[] = {"parameters", "gradients", "optimizer", "activations", "logits", "KV blocks"};

auto place_of(const Term& term) { return std::find(std::begin(kOrder), std::end(kOrder), term.name); }

std::optional<int64_t> bytes_in(const nlohmann::json& value) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)) return std::nullopt;
  const auto bytes = value.get<int64_t>();
  return bytes >= 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace

nlohmann::json report(const Estimate& estimate) {
  nlohmann::json terms = nlohmann::json::object();
  for (const Term& term : estimate.terms) terms[term.name] = term.bytes;
  return {{"terms", std::move(terms)}, {"memory_bytes", estimate.memory_bytes()}, {"checkpoint_bytes", estimate.checkpoint_bytes}};
}

std::optional<Estimate> estimate_in(const nlohmann::json& reported) {
  if (!reported.is_object() || !reported.contains("terms") || !reported["terms"].is_object()) return std::nullopt;
  Estimate estimate;
  for (const auto& [name, value] : reported["terms"].items()) {
    const std::optional<int64_t> bytes = bytes_in(value);
    if (!bytes) return std::nullopt;
    estimate.terms.push_back({name, *bytes, ""});
  }
  std::stable_sort(estimate.terms.begin(), estimate.terms.end(), [](const Term& a, const Term& b) { return place_of(a) < place_of(b); });
  const std::optional<int64_t> checkpoint = bytes_in(reported.value("checkpoint_bytes", nlohmann::json()));
  if (!checkpoint || estimate.terms.empty()) return std::nullopt;
  estimate.checkpoint_bytes = *checkpoint;
  return estimate;
}

}  // namespace ringwright::estimate

#include "shared/history/comparability.h"

#include <fmt/format.h>

#include "shared/base/error.h"
#include "shared/history/comparison.h"
#include "shared/recipe/recipe.h"

namespace ringwright::history {
namespace {

std::optional<NotComparable> other_data(const RunRecord& a, const RunRecord& b) {
  static const nlohmann::json::json_pointer kHash("/workers/0/inputs/train/xxh3");
  if (!a.fingerprint.contains(kHash) || !b.fingerprint.contains(kHash) || a.fingerprint.at(kHash) == b.fingerprint.at(kHash)) return std::nullopt;
  return NotComparable{"their training data differ", "one data file for both", "compare the values alone with: ringwright runs compare"};
}

struct Choice {
  const char* key;
  nlohmann::json (*of)(const recipe::SftConfig&);
};
// The order of the rows comes from these, and no metric shows it.
constexpr Choice kChoices[] = {
    {"sft.seed", [](const recipe::SftConfig& config) { return nlohmann::json(config.seed); }},
    {"data.shuffle", [](const recipe::SftConfig& config) { return nlohmann::json(config.shuffle); }},
    {"policy.train_global_batch_size", [](const recipe::SftConfig& config) { return nlohmann::json(config.train_global_batch_size); }},
    {"policy.max_total_sequence_length", [](const recipe::SftConfig& config) { return nlohmann::json(config.max_total_sequence_length); }},
    {"data.max_input_seq_length", [](const recipe::SftConfig& config) { return nlohmann::json(longest_row(config)); }}};

std::optional<recipe::SftConfig> config_of(const RunRecord& run) {
  try {
    return recipe::sft_config(run.recipe);
  } catch (const Error&) {
    return std::nullopt;  // another algorithm's, or one of another release: its metrics alone are compared
  }
}

std::optional<NotComparable> other_order(const RunRecord& a, const RunRecord& b) {
  const auto config_a = config_of(a), config_b = config_of(b);
  if (!config_a || !config_b) return std::nullopt;
  for (const Choice& choice : kChoices) {
    const nlohmann::json in_a = choice.of(*config_a), in_b = choice.of(*config_b);
    if (in_a != in_b)
      return NotComparable{fmt::format("{} is {} in one and {} in the other", choice.key, in_a.dump(), in_b.dump()),
                           "the same rows in the same order", fmt::format("run one of them again with the other's {}", choice.key)};
  }
  return std::nullopt;
}

std::optional<NotComparable> other_packs(const Reader& reader, const RunRecord& a, const RunRecord& b) {
  const auto difference = first_batch_difference(reader, a, b);
  if (!difference) return std::nullopt;
  return NotComparable{
      fmt::format("step {} has {:.0f} {} in one and {:.0f} in the other", difference->step, difference->a, difference->what, difference->b),
      "the same packs in every step", "give both runs the same ringwright.packing.document_divisor, a multiple of 2 * context_parallel_size of each"};
}

}  // namespace

std::optional<NotComparable> why_not_comparable(const Reader& reader, const RunRecord& a, const RunRecord& b) {
  if (auto why = other_data(a, b)) return why;
  if (auto why = other_order(a, b)) return why;
  return other_packs(reader, a, b);
}

}  // namespace ringwright::history

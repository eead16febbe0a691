#include "shared/wire/steering.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "shared/base/error.h"
#include "shared/base/text.h"

namespace ringwright::wire {
namespace {

constexpr double kWholeMax = 1e15;  // a double holds each whole number up to it

// The shortest text that reads back as the same number.
std::string text_of(double value) { return fmt::format("{}", value); }

std::string bounds(const SettableKey& key) {
  return std::string(key.whole ? "a whole number " : "a number ") + (key.above_least ? "above " : "from ") + text_of(key.least) +
         (key.above_least ? "" : " on");
}

Error out_of_bounds(const SettableKey& key, const std::string& value) {
  return Error({"RW-STEER-002", std::string(key.name) + " cannot be " + value, std::string(key.name), bounds(key), "give another value"});
}

size_t find_key(std::string_view name) {
  const std::vector<SettableKey>& keys = settable_keys();
  std::vector<std::string> names;
  std::string list;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (name == keys[i].name || name == keys[i].recipe_key) return i;
    names.emplace_back(keys[i].name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const std::string nearest = text::nearest(std::string(name), names);
  throw Error({"RW-STEER-001", "`" + std::string(name) + "` cannot be changed while a run is going on", std::string(name), "one of " + list,
               nearest.empty() ? "relaunch the run with it: ringwright relaunch RUN KEY=VALUE" : "the nearest is `" + nearest + "`"});
}

}  // namespace

const std::vector<SettableKey>& settable_keys() {
  static const std::vector<SettableKey> kKeys = {
      {"optimizer.lr", "policy.optimizer.kwargs.lr", 0, true, false, false, "the rate that the schedule starts from"},
      {"optimizer.weight_decay", "policy.optimizer.kwargs.weight_decay", 0, false, false, false, "AdamW's weight decay"},
      {"optimizer.max_grad_norm", "policy.max_grad_norm", 0, false, false, false, "gradients are clipped to it; 0: not at all"},
      {"checkpointing.save_period", "checkpointing.save_period", 1, false, true, true, "steps from one checkpoint to the next"},
      {"sft.val_period", "sft.val_period", 0, false, true, false, "steps from one validation to the next; 0: none"},
  };
  return kKeys;
}

Setting make_setting(std::string_view name, double value) {
  const size_t index = find_key(name);
  const SettableKey& key = settable_keys()[index];
  const bool low = key.above_least ? !(value > key.least) : !(value >= key.least);
  if (!std::isfinite(value) || low || (key.whole && (value != std::floor(value) || value > kWholeMax)))
    throw out_of_bounds(key, std::isnan(value) ? "NaN" : text_of(value));
  return {index, value};
}

Setting parse_setting(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw Error({"RW-STEER-002", "this sets nothing", std::string(text), "KEY=VALUE", "for instance optimizer.lr=2e-4"});
  const std::string_view name = text.substr(0, equals), digits = text.substr(equals + 1);
  const size_t index = find_key(name);
  double value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc() || end != digits.data() + digits.size()) throw out_of_bounds(settable_keys()[index], "`" + std::string(digits) + "`");
  return make_setting(name, value);
}

std::string describe(const Setting& setting) { return std::string(settable_keys()[setting.key].name) + "=" + text_of(setting.value); }

}  // namespace ringwright::wire

#include "shared/model/layer_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "shared/base/error.h"
#include "shared/model/size_limit.h"

namespace ringwright::model {
namespace {

using nlohmann::json;

// Defaults of transformers' configuration classes.
constexpr int64_t kMistralWindow = 4096, kQwenWindowLayers = 28;

struct Field {
  LayerLimits::Kind kind;
  const char *key, *layer_type;
};
constexpr Field kFields[] = {{LayerLimits::Kind::window, "sliding_window", "sliding_attention"},
                             {LayerLimits::Kind::chunk, "attention_chunk_size", "chunked_attention"}};

[[noreturn]] void refuse(const std::string& file, const std::string& key, const json& value, const std::string& expected) {
  throw Error({"RW-MODEL-003", fmt::format("'{}' is {}", key, value.dump()), file + ": " + key, expected,
               "correct config.json, or choose another model", ExitCode::refused});
}

bool has(const json& config, const char* key) { return config.contains(key) && !config[key].is_null(); }

int64_t whole_number(const json& config, const char* key, int64_t least, const std::string& file) {
  const json& value = config[key];
  if (!value.is_number_integer() || value < least || value > kSizeMax) refuse(file, key, value, fmt::format("a whole number from {} on", least));
  return value.get<int64_t>();
}

std::string family_of(const json& config) {
  return config.contains("model_type") && config["model_type"].is_string() ? config["model_type"].get<std::string>() : "";
}

// Qwen's configurations switch their window off unless they say otherwise.
bool is_switched_on(const json& config, const Field& field) {
  if (field.kind != LayerLimits::Kind::window) return true;
  return has(config, "use_sliding_window") ? config["use_sliding_window"] != false : !family_of(config).starts_with("qwen");
}

// The size; nullopt: none. A key that is absent is not one that is null: Mistral's configuration has a window unless it is told otherwise.
std::optional<int64_t> size_of(const json& config, const Field& field, const std::string& file) {
  const bool by_default = field.kind == LayerLimits::Kind::window && family_of(config) == "mistral" && !config.contains(field.key);
  if (by_default) return kMistralWindow;
  if (!has(config, field.key)) return std::nullopt;
  return whole_number(config, field.key, 1, file);
}

// From which layer on there are windows, where layer_types does not say it.
int64_t first_window_layer(const json& config, const std::string& file) {
  if (has(config, "max_window_layers")) return whole_number(config, "max_window_layers", 0, file);
  return family_of(config).starts_with("qwen") ? kQwenWindowLayers : 0;
}

std::vector<bool> limited_layers(const json& config, const Field& field, int64_t layer_count, const std::string& file) {
  std::vector<bool> limited(static_cast<size_t>(layer_count), true);
  if (has(config, "layer_types")) {
    const json& types = config["layer_types"];
    if (!types.is_array() || types.size() != limited.size())
      refuse(file, "layer_types", types, fmt::format("a list of {} kinds of layers", layer_count));
    for (size_t layer = 0; layer < limited.size(); ++layer)
      limited[layer] = types[layer].is_string() && types[layer].get_ref<const std::string&>() == field.layer_type;
  } else if (field.kind == LayerLimits::Kind::window) {
    const int64_t first = std::min(first_window_layer(config, file), layer_count);
    std::fill(limited.begin(), limited.begin() + static_cast<std::ptrdiff_t>(first), false);
  }
  return limited;
}

}  // namespace

bool LayerLimits::all() const { return any() && std::find(limited.begin(), limited.end(), false) == limited.end(); }

int64_t LayerLimits::first_layer() const {
  const auto first = std::find(limited.begin(), limited.end(), true);
  return first == limited.end() ? -1 : first - limited.begin();
}

LayerLimits read_layer_limits(const json& config, int64_t layer_count, const std::string& file) {
  for (const Field& field : kFields) {
    if (!is_switched_on(config, field)) continue;
    const std::optional<int64_t> size = size_of(config, field, file);
    if (!size) continue;
    std::vector<bool> limited = limited_layers(config, field, layer_count, file);
    if (std::find(limited.begin(), limited.end(), true) == limited.end()) continue;
    return {field.kind, field.key, *size, std::move(limited)};
  }
  return {};
}

}  // namespace ringwright::model

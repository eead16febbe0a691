// Layers of a model that attend to a part of the sequence only, as transformers' configurations name them (5.24.0): the one reader of these fields.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ringwright::model {

struct LayerLimits {
  enum class Kind { none, window, chunk };
  Kind kind = Kind::none;
  std::string key;            // the field that says so: sliding_window, attention_chunk_size; "": none does
  int64_t size = 0;           // window: keys that a query sees at most, itself among them; chunk: tokens that see each other
  std::vector<bool> limited;  // by layer; empty: no layer is

  bool any() const { return kind != Kind::none; }
  bool all() const;             // every layer is limited
  int64_t first_layer() const;  // that is limited; -1: none
  // The window of a layer; 0: it has none.
  int64_t window(int64_t layer) const { return kind == Kind::window && limited[static_cast<size_t>(layer)] ? size : 0; }
};

// `config`: the (text) section of config.json. sliding_window counts unless use_sliding_window is false, which Qwen's configurations are by default;
// its layers are those of layer_types, or from max_window_layers on, or all. Throws Error RW-MODEL-003 for a size that is none, and for layer_types
// of another length than the model.
LayerLimits read_layer_limits(const nlohmann::json& config, int64_t layer_count, const std::string& file);

}  // namespace ringwright::model

// TensorBoard's events: what of them a history keeps. Field numbers from tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto
// and tensor.proto, and tensorboard/plugins/hparams/plugin_data.proto.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::tensorboard {

struct Scalar {
  std::string tag;
  double value;
};

struct Event {
  double wall_time_s = 0;
  int64_t step = 0;
  std::string file_version;        // of a file's first event: "brain.Event:2"
  std::vector<Scalar> scalars;     // simple values, and tensors of one number
  nlohmann::json hyperparameters;  // of the plugin hparams: name -> value; null where the event has none
  uint64_t other_values = 0;       // images, histograms, texts: not kept
};

inline constexpr const char* kFileVersion = "brain.Event:2";

// Throws Error RW-TB-003 (exit code 2) for bytes that are no event.
Event decode_event(std::string_view record);
// Scalars as simple values, that is, in 32 bits; hyperparameters are not written.
std::string encode_event(const Event& event);

}  // namespace ringwright::tensorboard

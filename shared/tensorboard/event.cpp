#include "shared/tensorboard/event.h"

#include <optional>

#include "shared/base/text.h"
#include "shared/tensorboard/wire_format.h"

namespace ringwright::tensorboard {
namespace {

// Field numbers.
namespace event_field {
constexpr uint32_t wall_time = 1, step = 2, file_version = 3, summary = 5;
}
namespace summary_field {
constexpr uint32_t value = 1;
}
namespace value_field {
constexpr uint32_t tag = 1, simple_value = 2, tensor = 8, metadata = 9;
}
namespace metadata_field {
constexpr uint32_t plugin_data = 1, plugin_name = 1, plugin_content = 2;
}
namespace tensor_field {
constexpr uint32_t dtype = 1, content = 4, float_value = 5, double_value = 6, int_value = 7, int64_value = 10;
}
namespace hparams_field {
constexpr uint32_t session_start = 3, entry = 1, key = 1, value = 2, number_value = 2, string_value = 3, bool_value = 4;
}

bool is_bytes(const MessageField& field, uint32_t number) { return field.number == number && field.type == WireType::bytes; }

std::string text_of(const MessageField& field) { return text::valid_utf8(std::string(field.bytes)); }

template <class Number>
double number_in(std::string_view bytes) {
  return static_cast<double>(read_little_endian<Number>(bytes));
}
double integer_in(std::string_view bytes) { return static_cast<double>(static_cast<int64_t>(MessageReader::take_varint(bytes))); }

// How a tensor's type lies in the field of its own (packed), and in tensor_content.
struct TensorType {
  uint64_t dtype;
  uint32_t field;
  WireType single;  // when it is not packed
  double (*packed)(std::string_view);
  double (*raw)(std::string_view);
  size_t bytes;  // in tensor_content, and packed; a packed integer may have any length
};
constexpr TensorType kTensorTypes[] = {{1, tensor_field::float_value, WireType::fixed32, number_in<float>, number_in<float>, sizeof(float)},
                                       {2, tensor_field::double_value, WireType::fixed64, number_in<double>, number_in<double>, sizeof(double)},
                                       {3, tensor_field::int_value, WireType::varint, integer_in, number_in<int32_t>, sizeof(int32_t)},
                                       {9, tensor_field::int64_value, WireType::varint, integer_in, number_in<int64_t>, sizeof(int64_t)}};

bool holds_one(const TensorType& type, std::string_view packed) {
  if (type.single != WireType::varint) return packed.size() == type.bytes;
  if (packed.empty()) return false;
  MessageReader::take_varint(packed);
  return packed.empty();
}

// The number of a tensor that holds just one.
std::optional<double> number_of_tensor(std::string_view message) {
  uint64_t dtype = 0;
  MessageReader types(message);
  while (const auto field = types.next())
    if (field->number == tensor_field::dtype && field->type == WireType::varint) dtype = field->integer;
  std::optional<double> value;
  int values = 0;
  for (const TensorType& type : kTensorTypes) {
    if (type.dtype != dtype) continue;
    MessageReader reader(message);
    while (const auto field = reader.next()) {
      if (is_bytes(*field, tensor_field::content) && !field->bytes.empty()) {
        ++values;
        if (field->bytes.size() == type.bytes) value = type.raw(field->bytes);
      } else if (is_bytes(*field, type.field)) {
        ++values;
        if (holds_one(type, field->bytes)) value = type.packed(field->bytes);
      } else if (field->number == type.field && field->type == type.single) {
        ++values;
        value = type.single == WireType::fixed32   ? field->as_float()
                : type.single == WireType::fixed64 ? field->as_double()
                                                   : static_cast<double>(static_cast<int64_t>(field->integer));
      }
    }
  }
  return values == 1 ? value : std::nullopt;
}

nlohmann::json hyperparameter(std::string_view message) {
  nlohmann::json value;
  MessageReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == hparams_field::number_value && field->type == WireType::fixed64) value = field->as_double();
    if (is_bytes(*field, hparams_field::string_value)) value = text_of(*field);
    if (field->number == hparams_field::bool_value && field->type == WireType::varint) value = field->integer != 0;
  }
  return value;
}

// The plugin's content: what a session was started with.
void read_hyperparameters(std::string_view content, nlohmann::json& all) {
  MessageReader reader(content);
  while (const auto session = reader.next()) {
    if (!is_bytes(*session, hparams_field::session_start)) continue;
    if (all.is_null()) all = nlohmann::json::object();
    MessageReader entries(session->bytes);
    while (const auto entry = entries.next()) {
      if (!is_bytes(*entry, hparams_field::entry)) continue;
      std::string name;
      nlohmann::json value;
      MessageReader parts(entry->bytes);
      while (const auto part = parts.next()) {
        if (is_bytes(*part, hparams_field::key)) name = text_of(*part);
        if (is_bytes(*part, hparams_field::value)) value = hyperparameter(part->bytes);
      }
      all[name] = std::move(value);
    }
  }
}

void read_metadata(std::string_view message, nlohmann::json& hyperparameters) {
  MessageReader reader(message);
  while (const auto plugin = reader.next()) {
    if (!is_bytes(*plugin, metadata_field::plugin_data)) continue;
    std::string_view name, content;
    MessageReader parts(plugin->bytes);
    while (const auto part = parts.next()) {
      if (is_bytes(*part, metadata_field::plugin_name)) name = part->bytes;
      if (is_bytes(*part, metadata_field::plugin_content)) content = part->bytes;
    }
    if (name == "hparams") read_hyperparameters(content, hyperparameters);
  }
}

void read_value(std::string_view message, Event& event) {
  std::string tag;
  std::optional<double> value;
  nlohmann::json hyperparameters;
  MessageReader reader(message);
  while (const auto field = reader.next()) {
    if (is_bytes(*field, value_field::tag)) tag = text_of(*field);
    if (field->number == value_field::simple_value && field->type == WireType::fixed32) value = field->as_float();
    if (is_bytes(*field, value_field::tensor)) value = number_of_tensor(field->bytes);
    if (is_bytes(*field, value_field::metadata)) read_metadata(field->bytes, hyperparameters);
  }
  if (!hyperparameters.is_null())
    event.hyperparameters = std::move(hyperparameters);
  else if (value && !tag.empty() && !tag.starts_with("_hparams_/"))
    event.scalars.push_back({std::move(tag), *value});
  else
    ++event.other_values;
}

}  // namespace

Event decode_event(std::string_view record) {
  Event event;
  MessageReader reader(record);
  while (const auto field = reader.next()) {
    if (field->number == event_field::wall_time && field->type == WireType::fixed64) event.wall_time_s = field->as_double();
    if (field->number == event_field::step && field->type == WireType::varint) event.step = static_cast<int64_t>(field->integer);
    if (is_bytes(*field, event_field::file_version)) event.file_version = text_of(*field);
    if (!is_bytes(*field, event_field::summary)) continue;
    MessageReader values(field->bytes);
    while (const auto value = values.next())
      if (is_bytes(*value, summary_field::value)) read_value(value->bytes, event);
  }
  return event;
}

std::string encode_event(const Event& event) {
  MessageWriter writer;
  writer.number(event_field::wall_time, event.wall_time_s);
  if (event.step != 0) writer.integer(event_field::step, static_cast<uint64_t>(event.step));
  if (!event.file_version.empty()) writer.bytes(event_field::file_version, event.file_version);
  MessageWriter summary;
  for (const Scalar& scalar : event.scalars) {
    MessageWriter value;
    value.bytes(value_field::tag, scalar.tag).number(value_field::simple_value, static_cast<float>(scalar.value));
    summary.bytes(summary_field::value, value.message());
  }
  if (!event.scalars.empty()) writer.bytes(event_field::summary, summary.message());
  return writer.message();
}

}  // namespace ringwright::tensorboard

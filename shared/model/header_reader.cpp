#include "shared/model/header_reader.h"

#include <fmt/format.h>

#include <limits>

namespace ringwright::model {
namespace {

constexpr const char* kMetadataKey = "__metadata__";
constexpr int kNestingMax = 128;

}  // namespace

bool HeaderReader::read(std::string_view text) {
  // The parser itself would skip a byte order mark and take a zero byte for the end.
  if (text.find('\0') != std::string_view::npos) return fail("the header holds a zero byte");
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return fail("the header is not a JSON object");
  return nlohmann::json::sax_parse(text.begin(), text.end(), this);
}

bool HeaderReader::fail(const std::string& reason) {
  if (reason_.empty()) reason_ = reason;
  return false;
}

const char* HeaderReader::wanted() const {
  switch (place_) {
    case Place::metadata:
      return "a text";
    case Place::shape:
      return "a whole number that is not negative";
    case Place::offsets:
      return "a byte offset";
    case Place::tensor:
      return field_ == "dtype" ? "the name of a dtype" : "a list";
    default:
      return "an object";
  }
}

bool HeaderReader::unexpected(const char* got) {
  if (place_ == Place::skipped) return true;
  if (place_ == Place::tensor && field_ != "dtype" && field_ != "shape" && field_ != "data_offsets") return true;
  return fail(fmt::format("{}{} where {} is expected", field_.empty() ? "" : "'" + field_ + "': ", got, wanted()));
}

bool HeaderReader::null() {
  if (place_ == Place::root && tensor_ == kMetadataKey) return true;
  return unexpected("null");
}
bool HeaderReader::boolean(bool) { return unexpected("a truth value"); }
bool HeaderReader::number_integer(number_integer_t) { return unexpected("a negative number"); }
bool HeaderReader::number_float(number_float_t, const string_t&) { return unexpected("a fraction"); }
bool HeaderReader::binary(binary_t&) { return unexpected("binary data"); }

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  if (place_ == Place::shape) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return fail(fmt::format("a size of {} is too large", value));
    entry_.shape.push_back(static_cast<int64_t>(value));
    return true;
  }
  if (place_ == Place::offsets) {
    if (offsets_.size() == 2) return fail("data_offsets has more than two numbers");
    offsets_.push_back(value);
    return true;
  }
  return unexpected("a number");
}

bool HeaderReader::string(string_t& value) {
  if (place_ == Place::metadata) return header_.metadata[field_] = value, true;
  if (place_ == Place::tensor && field_ == "dtype") return entry_.dtype = value, true;
  return unexpected("a text");
}

bool HeaderReader::start_object(std::size_t) {
  switch (place_) {
    case Place::outside:
      place_ = Place::root;
      return true;
    case Place::root:
      place_ = tensor_ == kMetadataKey ? Place::metadata : Place::tensor;
      field_.clear(), fields_.clear(), offsets_.clear();
      entry_ = TensorEntry{};
      entry_.name = tensor_;
      return true;
    case Place::skipped:
      return ++skipped_depth_ <= kNestingMax || fail("too deeply nested");
    case Place::tensor:
      if (!unexpected("an object")) return false;
      place_ = Place::skipped, skipped_depth_ = 1;
      return true;
    default:
      return unexpected("an object");
  }
}

bool HeaderReader::key(string_t& value) {
  if (place_ == Place::root) {
    tensor_ = value, field_.clear();
    return names_.insert(value).second || fail("the name stands there twice");
  }
  if (place_ == Place::skipped) return true;
  field_ = value;
  if (place_ == Place::tensor && !fields_.insert(value).second) return fail("the field '" + value + "' stands there twice");
  return true;
}

bool HeaderReader::finish_tensor() {
  for (const char* field : {"dtype", "shape", "data_offsets"})
    if (!fields_.contains(field)) return fail(fmt::format("the field '{}' is missing", field));
  if (offsets_.size() != 2) return fail("data_offsets needs two numbers");
  entry_.begin = offsets_[0], entry_.end = offsets_[1];
  header_.tensors.push_back(std::move(entry_));
  return true;
}

bool HeaderReader::end_object() {
  switch (place_) {
    case Place::skipped:
      if (--skipped_depth_ == 0) place_ = Place::tensor;
      return true;
    case Place::tensor:
      place_ = Place::root;
      return finish_tensor();
    case Place::metadata:
      place_ = Place::root;
      return true;
    default:
      place_ = Place::outside;
      return true;
  }
}

bool HeaderReader::start_array(std::size_t) {
  if (place_ == Place::skipped) return ++skipped_depth_ <= kNestingMax || fail("too deeply nested");
  if (place_ == Place::tensor && field_ == "shape") return place_ = Place::shape, true;
  if (place_ == Place::tensor && field_ == "data_offsets") return place_ = Place::offsets, true;
  if (place_ != Place::tensor || !unexpected("a list")) return unexpected("a list");
  place_ = Place::skipped, skipped_depth_ = 1;
  return true;
}

bool HeaderReader::end_array() {
  if (place_ == Place::skipped) {
    if (--skipped_depth_ == 0) place_ = Place::tensor;
    return true;
  }
  place_ = Place::tensor;
  return true;
}

bool HeaderReader::parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
  return fail(fmt::format("the header is not valid JSON (byte {} of the header)", position));
}

}  // namespace ringwright::model

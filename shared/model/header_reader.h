// Reads the JSON of a safetensors header event by event, so that a hostile header builds no tree and repeated names are seen.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "shared/model/safetensors.h"

namespace ringwright::model {

class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  // False when the text is no valid header; reason() and tensor() then say why and where.
  bool read(std::string_view text);
  const std::string& reason() const { return reason_; }
  const std::string& tensor() const { return tensor_; }
  SafetensorsHeader take() { return std::move(header_); }

  bool null() override;
  bool boolean(bool value) override;
  bool number_integer(number_integer_t value) override;
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t& text) override;
  bool string(string_t& value) override;
  bool binary(binary_t& value) override;
  bool start_object(std::size_t elements) override;
  bool key(string_t& value) override;
  bool end_object() override;
  bool start_array(std::size_t elements) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string& last_token, const nlohmann::detail::exception& error) override;

 private:
  enum class Place { outside, root, metadata, tensor, shape, offsets, skipped };
  bool fail(const std::string& reason);
  bool unexpected(const char* got);
  const char* wanted() const;
  bool finish_tensor();

  SafetensorsHeader header_;
  TensorEntry entry_;
  Place place_ = Place::outside;
  int skipped_depth_ = 0;
  std::string field_;             // the last key of the tensor or of the metadata
  std::set<std::string> fields_;  // of the tensor at hand
  std::set<std::string> names_;   // keys of the root object
  std::vector<uint64_t> offsets_;
  std::string tensor_, reason_;
};

}  // namespace ringwright::model

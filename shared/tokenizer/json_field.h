// Private to the folder: a value inside tokenizer.json that knows its place, for errors that name file and key.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "shared/base/error.h"

namespace ringwright::tokenizer {

class Field {
 public:
  Field(const nlohmann::json& value, std::string file, std::string key) : value_(&value), file_(std::move(file)), key_(std::move(key)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& key() const { return key_; }
  bool is_null() const { return value_->is_null(); }

  // A member; null where the object has none.
  Field operator[](const std::string& name) const {
    static const nlohmann::json null;
    if (!value_->is_object()) wrong_type("an object");
    const auto found = value_->find(name);
    return {found == value_->end() ? null : *found, file_, key_.empty() ? name : key_ + "." + name};
  }
  Field at(size_t index) const { return {value_->at(index), file_, fmt::format("{}[{}]", key_, index)}; }
  size_t array_size() const {
    if (!value_->is_array()) wrong_type("a list");
    return value_->size();
  }

  const std::string& text() const {
    if (!value_->is_string()) wrong_type("a text");
    return value_->get_ref<const std::string&>();
  }
  bool flag(bool otherwise) const {
    if (is_null()) return otherwise;
    if (!value_->is_boolean()) wrong_type("true or false");
    return value_->get<bool>();
  }
  int64_t integer(int64_t smallest, int64_t largest) const {
    if (!value_->is_number_integer() || (value_->is_number_unsigned() && value_->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))) {
      wrong_type(fmt::format("an integer from {} to {}", smallest, largest));
    }
    const auto number = value_->get<int64_t>();
    if (number < smallest || number > largest) wrong_type(fmt::format("an integer from {} to {}", smallest, largest));
    return number;
  }

  [[noreturn]] void wrong_type(const std::string& expected) const {
    const std::string shown = value_->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 60);
    damaged(fmt::format("{} is {}", key_, shown), expected);
  }
  [[noreturn]] void damaged(const std::string& what, const std::string& expected) const {
    throw Error({.code = "RW-TOK-002",
                 .what = what,
                 .where = fmt::format("{}: {}", file_, key_),
                 .expected = expected,
                 .action = "take tokenizer.json from its source again",
                 .exit_code = ExitCode::usage});
  }
  [[noreturn]] void unsupported(const std::string& feature) const {
    throw Error({.code = "RW-TOK-003",
                 .what = fmt::format("the tokenizer uses {}, which is not supported", feature),
                 .where = fmt::format("{}: {}", file_, key_),
                 .expected = "byte-level BPE: pre-tokenizers ByteLevel, Split and Sequence, no normaliser",
                 .action = "use a model with a byte-level BPE tokenizer",
                 .exit_code = ExitCode::refused});
  }

 private:
  const nlohmann::json* value_;
  std::string file_;
  std::string key_;
};

}  // namespace ringwright::tokenizer

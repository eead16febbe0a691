#include "tests/golden/cp_tensors/case_values.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ringwright::golden {
namespace {

using nlohmann::json;

bool is_tensor(const json& value) { return value.is_object() && value.contains("dtype"); }

json value_json(const worker::BatchValue& value) {
  return std::visit([](const auto& held) { return json(held); }, value);
}

const ErrorCodes kCodes = {.bad_argument = {"RW-SHARD-001", "RW-LAYOUT-", "RW-STREAM-", "RW-DSV4-", "RW-MAMBA-001", "RW-MAMBA-003"},
                           .missing_key = {"RW-SHARD-002"},
                           .unsupported = {"RW-SHARD-003", "RW-MAMBA-002"},
                           .misuse = {"RW-SHARD-004"}};

json longs_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kLong).contiguous().flatten();
  return std::vector<int64_t>(flat.const_data_ptr<int64_t>(), flat.const_data_ptr<int64_t>() + flat.numel());
}

}  // namespace

at::Tensor tensor_of(const json& value) {
  if (value.is_null()) return {};
  static const std::map<std::string, at::ScalarType> types = {
      {"int64", at::kLong}, {"int32", at::kInt}, {"float32", at::kFloat}, {"float64", at::kDouble}, {"bool", at::kBool}};
  const auto shape = value.at("shape").get<std::vector<int64_t>>();
  const auto data = value.at("data").get<std::vector<double>>();
  return at::tensor(data, at::kDouble).reshape(shape).to(types.at(value.at("dtype").get<std::string>()));
}

worker::Batch batch_of(const json& input) {
  worker::Batch batch;
  for (const auto& [key, value] : input.at("batch").items()) {
    if (value.is_string()) {
      batch.values[key] = value.get<std::string>();
    } else if (value.is_number_integer()) {
      batch.values[key] = value.get<int64_t>();
    } else {
      batch[key] = tensor_of(value);
    }
  }
  if (input.contains("loss_mask") && !input["loss_mask"].is_null()) batch["loss_mask"] = tensor_of(input["loss_mask"]);
  return batch;
}

worker::ShardFacts facts_of(const json& layout) {
  worker::ShardFacts facts;
  if (layout.is_null()) return facts;
  const auto length = [&](const char* key) { return layout[key].is_null() ? std::nullopt : std::optional<int64_t>(layout[key].get<int64_t>()); };
  facts.original_length = length("original_seq_len");
  facts.padded_length = length("padded_seq_len");
  facts.local_token_global_indices = tensor_of(layout["local_token_global_indices"]);
  if (!layout["input_row_shape"].is_null()) facts.input_row_shape = layout["input_row_shape"].get<std::vector<int64_t>>();
  facts.input_token_stream_positions = tensor_of(layout["input_token_stream_positions"]);
  return facts;
}

std::optional<double> number(const json& params, const char* key) {
  return params.contains(key) && !params[key].is_null() ? std::optional<double>(params[key].get<double>()) : std::nullopt;
}

int64_t integer(const json& params, const char* key, int64_t otherwise) {
  const std::optional<double> value = number(params, key);
  return value ? static_cast<int64_t>(*value) : otherwise;
}

void expect_tensor(const std::string& what, const at::Tensor& got, const json& want) {
  if (want.is_null() || !got.defined()) {
    if (want.is_null() && !got.defined()) return;
    throw Mismatch(fmt::format("{}: {}, expected {}", what, got.defined() ? "a tensor" : "nothing", want.is_null() ? "nothing" : "a tensor"));
  }
  const at::Tensor expected = tensor_of(want), detached = got.detach();
  if (detached.scalar_type() != expected.scalar_type() || detached.sizes() != expected.sizes()) {
    throw Mismatch(fmt::format("{}: {} [{}], expected {} [{}]", what, at::toString(detached.scalar_type()), fmt::join(detached.sizes(), ", "),
                               at::toString(expected.scalar_type()), fmt::join(expected.sizes(), ", ")));
  }
  if (at::equal(detached, expected)) return;
  const int64_t first = (detached != expected).flatten().nonzero()[0].item<int64_t>();
  throw Mismatch(fmt::format("{}: element {} is {}, expected {}", what, first, detached.flatten()[first].item<double>(),
                             expected.flatten()[first].item<double>()));
}

void expect_batch(const worker::Batch& got, const json& want) {
  json names = json::array(), wanted = json::array();
  for (const auto& [key, tensor] : got) names.push_back(key);
  for (const auto& [key, value] : got.values) names.push_back(key);
  for (const auto& [key, value] : want.items()) wanted.push_back(key);
  std::sort(names.begin(), names.end());
  expect_equal("keys of the batch", names, wanted);
  for (const auto& [key, value] : want.items()) {
    if (value.is_object() && value.contains("opaque")) continue;
    if (is_tensor(value) || value.is_null()) {
      expect_tensor(key, got.at(key), value);
    } else {
      expect_equal(key, value_json(got.values.at(key)), value);
    }
  }
}

void expect_facts(const worker::ShardFacts& got, const json& want) {
  static const json nothing = {{"local_token_global_indices", nullptr},
                               {"original_seq_len", nullptr},
                               {"padded_seq_len", nullptr},
                               {"input_row_shape", nullptr},
                               {"input_token_stream_positions", nullptr}};
  const json& facts = want.is_null() ? nothing : want;
  const auto length = [](const std::optional<int64_t>& value) { return value ? json(*value) : json(nullptr); };
  expect_equal("original_seq_len", length(got.original_length), facts["original_seq_len"]);
  expect_equal("padded_seq_len", length(got.padded_length), facts["padded_seq_len"]);
  expect_equal("input_row_shape", got.input_row_shape.empty() ? json(nullptr) : json(got.input_row_shape), facts["input_row_shape"]);
  expect_tensor("input_token_stream_positions", got.input_token_stream_positions, facts["input_token_stream_positions"]);
  const json& map = facts["local_token_global_indices"];
  expect_equal("local_token_global_indices", got.local_token_global_indices.defined() ? longs_of(got.local_token_global_indices) : json(nullptr),
               map.is_null() ? map : map.at("data"));
}

void expect_error(const json& error, const std::function<void()>& call) { expect_error(error, kCodes, call); }

at::Tensor counting_weights(const at::Tensor& tensor) { return at::arange(1, tensor.numel() + 1, at::kFloat).reshape(tensor.sizes()); }

worker::ProcessGroup lone_member(int rank, int size) {
  worker::ProcessGroup group;
  group.rank = rank;
  group.size = size;
  return group;
}

}  // namespace ringwright::golden

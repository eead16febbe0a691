// Values of the cp goldens as the worker's types, and comparisons that throw Mismatch.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

#include "daemon/worker/context_parallel/shard_strategy.h"
#include "tests/golden/golden_cases.h"

namespace ringwright::golden {

// {"dtype", "shape", "data"}; null gives an undefined tensor.
at::Tensor tensor_of(const nlohmann::json& value);
// Tensors, and the values beside them, of input.batch; input.loss_mask joins them.
worker::Batch batch_of(const nlohmann::json& input);
worker::ShardFacts facts_of(const nlohmann::json& layout);
std::optional<double> number(const nlohmann::json& params, const char* key);
int64_t integer(const nlohmann::json& params, const char* key, int64_t otherwise);

// dtype, shape and values.
void expect_tensor(const std::string& what, const at::Tensor& got, const nlohmann::json& want);
// The same keys with equal values; {"opaque": ...} is not looked at.
void expect_batch(const worker::Batch& got, const nlohmann::json& want);
// The five facts of the contract; the captured map may have any integer type and shape.
void expect_facts(const worker::ShardFacts& got, const nlohmann::json& want);
// `call` must throw an Error of the kind that the recorded class stands for.
void expect_error(const nlohmann::json& error, const std::function<void()>& call);

// 1, 2, 3, ... in the shape of `tensor`, as float32.
at::Tensor counting_weights(const at::Tensor& tensor);

// Rank `rank` of a group that is never talked to.
worker::ProcessGroup lone_member(int rank, int size);

}  // namespace ringwright::golden

// Attention written out with an explicit mask in float64, and calls of the methods against it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/parallel/process_groups.h"
#include "shared/layout/methods.h"
#include "tests/daemon/worker/attention/mask_reference.h"

namespace ringwright::test {

struct Tensors {
  at::Tensor q, k, v, grad_out;  // [B, heads, length, D], float64
};

struct Gradients {
  at::Tensor out, q, k, v;
};

struct Shape {
  int64_t rows = 1, heads = 12, kv_heads = 12, head_size = 8;
};

constexpr double kScale = 0.3;

// The same numbers for the same arguments, on every rank, without LibTorch's shared generator.
Tensors make_tensors(const Shape& shape, int64_t length);
// The slots of this rank, in `type`.
Tensors cut(const Tensors& full, const at::Tensor& map, at::ScalarType type);
at::Tensor local_map(const layout::Layout& layout, int64_t padded_length, int rank);

// bool [length, length].
at::Tensor allowed_matrix(const layout::Mask& mask, int64_t length);
// Through autograd, in float64; rows that see nothing are 0.
Gradients reference(const Tensors& full, const at::Tensor& allowed_LL);

// The methods that do not refuse such a call.
std::vector<layout::MethodEntry> methods_that_take(const layout::Layout& layout, const layout::Mask& mask, const Shape& shape);

using Attend = std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;
Gradients run(const Tensors& inputs, const Attend& attend);
Gradients run(const Tensors& inputs, const worker::AttentionFunction& attend, const layout::Mask& mask);

// This rank's slots against the whole sequence's, relative to the largest absolute value of the whole tensor (1 where it is 0).
double relative_difference(const at::Tensor& got, const at::Tensor& want_full, const at::Tensor& map);
double largest_difference(const Gradients& got, const Gradients& want_full, const at::Tensor& map);

bool equal_bits(const Gradients& a, const Gradients& b);

}  // namespace ringwright::test

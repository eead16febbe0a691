#include "tests/daemon/worker/attention/attention_cases.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <random>

namespace ringwright::test {
namespace {

at::Tensor random(std::mt19937_64& generator, std::vector<int64_t> shape) {
  std::normal_distribution<double> normal;
  at::Tensor tensor = at::empty(shape, at::kDouble);
  double* values = tensor.data_ptr<double>();
  for (int64_t i = 0; i < tensor.numel(); ++i) values[i] = normal(generator);
  return tensor;
}

}  // namespace

Tensors make_tensors(const Shape& shape, int64_t length) {
  std::mt19937_64 generator(7);
  const auto make = [&](int64_t heads) { return random(generator, {shape.rows, heads, length, shape.head_size}); };
  Tensors tensors;
  tensors.q = make(shape.heads);
  tensors.k = make(shape.kv_heads);
  tensors.v = make(shape.kv_heads);
  tensors.grad_out = make(shape.heads);
  return tensors;
}

Tensors cut(const Tensors& full, const at::Tensor& map, at::ScalarType type) {
  const auto part = [&](const at::Tensor& x) { return x.index_select(2, map).to(type); };
  return {part(full.q), part(full.k), part(full.v), part(full.grad_out)};
}

at::Tensor local_map(const layout::Layout& layout, int64_t padded_length, int rank) {
  return at::tensor(layout.local_token_global_indices(padded_length, rank), at::kLong);
}

at::Tensor allowed_matrix(const layout::Mask& mask, int64_t length) {
  at::Tensor allowed = at::empty({length, length}, at::kBool);
  bool* values = allowed.data_ptr<bool>();
  for (int64_t q = 0; q < length; ++q) {
    for (int64_t k = 0; k < length; ++k) values[q * length + k] = sees(mask, q, k);
  }
  return allowed;
}

Gradients reference(const Tensors& full, const at::Tensor& allowed_LL) {
  return run(full, [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const int64_t group = q.size(1) / k.size(1);
    const at::Tensor hidden = allowed_LL.logical_not();
    const at::Tensor scores = (at::matmul(q, k.repeat_interleave(group, 1).transpose(-1, -2)) * kScale).masked_fill(hidden, -1e30);
    return at::matmul(scores.softmax(-1).masked_fill(hidden, 0), v.repeat_interleave(group, 1));
  });
}

std::vector<layout::MethodEntry> methods_that_take(const layout::Layout& layout, const layout::Mask& mask, const Shape& shape) {
  std::vector<layout::MethodEntry> methods = layout::methods();
  std::erase_if(methods, [&](const layout::MethodEntry& method) {
    return !worker::attention_refusal(method.name, {layout, mask, shape.heads, shape.kv_heads}).empty();
  });
  return methods;
}

Gradients run(const Tensors& inputs, const Attend& attend) {
  const auto leaf = [](const at::Tensor& x) { return x.detach().requires_grad_(); };
  const at::Tensor q = leaf(inputs.q), k = leaf(inputs.k), v = leaf(inputs.v);
  const at::Tensor out = attend(q, k, v);
  out.backward(inputs.grad_out);
  return {out.detach(), q.grad(), k.grad(), v.grad()};
}

Gradients run(const Tensors& inputs, const worker::AttentionFunction& attend, const layout::Mask& mask) {
  return run(inputs, [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) { return attend(q, k, v, mask, kScale); });
}

double relative_difference(const at::Tensor& got, const at::Tensor& want_full, const at::Tensor& map) {
  if (got.numel() == 0) return 0;
  const double largest = want_full.abs().max().item<double>();
  return (got.to(at::kDouble) - want_full.index_select(2, map)).abs().max().item<double>() / (largest > 0 ? largest : 1);
}

double largest_difference(const Gradients& got, const Gradients& want_full, const at::Tensor& map) {
  return std::max({relative_difference(got.out, want_full.out, map), relative_difference(got.q, want_full.q, map),
                   relative_difference(got.k, want_full.k, map), relative_difference(got.v, want_full.v, map)});
}

bool equal_bits(const Gradients& a, const Gradients& b) {
  return at::equal(a.out, b.out) && at::equal(a.q, b.q) && at::equal(a.k, b.k) && at::equal(a.v, b.v);
}

}  // namespace ringwright::test

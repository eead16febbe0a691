// The attention operators against softmax attention written out in float64, on the device that --device names: cpu or cuda.
// Needs LibTorch and nothing else. Exits 77 where there is no such device. Last line: "N passed, N failed".
#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/worker/kernels/attention_block.h"
#include "daemon/worker/kernels/attention_pack.h"
#include "tests/device/checks.h"

namespace {

using namespace ringwright;
using namespace ringwright::worker;
using device_test::g_device;
using device_test::require;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Shape {
  int64_t rows, heads, kv_heads, queries, keys, head_size;
};

struct Inputs {
  at::Tensor q, k, v, grad_out;  // float64 on the CPU

  at::Tensor on_device(const at::Tensor& x, at::ScalarType type) const { return x.to(type).to(g_device); }
};

Inputs make_inputs(const Shape& s) {
  at::manual_seed(11);
  const auto make = [&](int64_t heads, int64_t length) { return at::randn({s.rows, heads, length, s.head_size}, at::kDouble); };
  Inputs inputs;
  inputs.q = make(s.heads, s.queries);
  inputs.k = make(s.kv_heads, s.keys);
  inputs.v = make(s.kv_heads, s.keys);
  inputs.grad_out = make(s.heads, s.queries);
  return inputs;
}

struct Reference {
  at::Tensor out, lse, grad_q, grad_k, grad_v;
};

// Through autograd; rows without a key are 0 with a log-sum-exp of -inf.
Reference reference(const Inputs& inputs, const at::Tensor& allowed, double scale) {
  const at::Tensor q = inputs.q.clone().requires_grad_(), k = inputs.k.clone().requires_grad_(), v = inputs.v.clone().requires_grad_();
  const int64_t group = q.size(1) / k.size(1);
  const at::Tensor scores = (at::matmul(q, k.repeat_interleave(group, 1).transpose(-1, -2)) * scale).masked_fill(allowed.logical_not(), -1e30);
  const at::Tensor out = at::matmul(scores.softmax(-1).masked_fill(allowed.logical_not(), 0), v.repeat_interleave(group, 1));
  out.backward(inputs.grad_out);
  const at::Tensor lse = scores.logsumexp(-1).masked_fill(allowed.any(-1).logical_not(), -kInfinity);
  return {out.detach(), lse.detach(), q.grad(), k.grad(), v.grad()};
}

void expect_close(const std::string& name, const at::Tensor& got, const at::Tensor& want, double limit) {
  const at::Tensor g = got.to(at::kCPU).to(at::kDouble);
  require(g.sizes() == want.sizes(), name + ": wrong shape");
  const at::Tensor hidden = want == -kInfinity;
  require(at::equal(g == -kInfinity, hidden), name + ": -inf in the wrong rows");
  const at::Tensor difference = (g - want).masked_fill(hidden, 0).abs();
  const double scale = want.masked_fill(hidden, 0).abs().max().item<double>();
  const double worst = difference.max().item<double>() / std::max(scale, 1e-30);
  std::ostringstream text;
  text << name << ": relative difference " << worst << ", allowed " << limit;
  require(worst <= limit, text.str());
}

at::Tensor causal_mask(int64_t length) { return at::ones({length, length}, at::kBool).tril(); }

double out_limit(at::ScalarType type) { return type == at::kDouble ? 1e-12 : type == at::kFloat ? 2e-6 : 2e-2; }
double grad_limit(at::ScalarType type) { return type == at::kDouble ? 1e-11 : type == at::kFloat ? 1e-5 : 3e-2; }

void check_block(const Shape& shape, at::ScalarType type, bool causal, const at::Tensor& allowed = {}) {
  const Inputs inputs = make_inputs(shape);
  const double scale = 0.4;
  const BlockMask mask{causal, allowed.defined() ? allowed.to(g_device) : at::Tensor()};
  const at::Tensor visible = allowed.defined() ? allowed : causal ? causal_mask(shape.queries) : at::ones({shape.queries, shape.keys}, at::kBool);
  const Reference want = reference(inputs, visible, scale);
  const at::Tensor q = inputs.on_device(inputs.q, type), k = inputs.on_device(inputs.k, type), v = inputs.on_device(inputs.v, type);
  const AttentionBlock block = attention_block_forward(q, k, v, mask, scale);
  require(block.out_BHLD.scalar_type() == type, "the output has another type than the queries");
  expect_close("out", block.out_BHLD, want.out, out_limit(type));
  expect_close("lse", block.lse_BHL, want.lse, out_limit(type));
  const AttentionBlockGradients gradients = attention_block_backward(inputs.on_device(inputs.grad_out, type), q, k, v, block, mask, scale);
  expect_close("grad q", gradients.q_BHLD, want.grad_q, grad_limit(type));
  expect_close("grad k", gradients.k_BKMD, want.grad_k, grad_limit(type));
  expect_close("grad v", gradients.v_BKMD, want.grad_v, grad_limit(type));
}

void check_types(at::ScalarType type) {
  check_block({1, 2, 2, 33, 33, 16}, type, true);
  check_block({2, 6, 3, 40, 24, 32}, type, false);
  check_block({1, 3, 1, 7, 300, 8}, type, false);
  check_block({1, 8, 2, 257, 257, 64}, type, true);
}

void check_odd_head_size() { check_block({1, 3, 3, 20, 20, 13}, g_device.is_cpu() ? at::kFloat : at::kHalf, true); }

// A row that sees no key must not count when blocks are merged, and must get no gradient.
void check_masked_rows() {
  at::Tensor allowed = at::ones({12, 9}, at::kBool);
  allowed[0].fill_(false);
  allowed[5].fill_(false);
  allowed[7].slice(0, 3).fill_(false);
  check_block({2, 4, 2, 12, 9, 16}, at::kFloat, false, allowed);
  check_block({2, 4, 2, 12, 9, 16}, at::kDouble, false, allowed);
  check_block({1, 2, 2, 12, 9, 16}, at::kFloat, false, at::zeros({12, 9}, at::kBool));
}

// LibTorch's CPU operator ends the process here.
void check_empty_blocks() {
  const auto make = [](int64_t length) { return at::randn({1, 2, length, 8}, at::kFloat).to(g_device); };
  const AttentionBlock no_keys = attention_block_forward(make(5), make(0), make(0), {}, 1);
  require(at::equal(no_keys.out_BHLD.cpu(), at::zeros({1, 2, 5, 8})), "no keys: the output is not 0");
  require((no_keys.lse_BHL == -kInfinity).all().item<bool>(), "no keys: the log-sum-exp is not -inf");
  const AttentionBlock no_queries = attention_block_forward(make(0), make(5), make(5), {}, 1);
  require(no_queries.out_BHLD.numel() == 0, "no queries: there is an output");
  const AttentionBlockGradients gradients = attention_block_backward(make(0), make(0), make(5), make(5), no_queries, {}, 1);
  require(at::equal(gradients.k_BKMD.cpu(), at::zeros({1, 2, 5, 8})), "no queries: the keys have a gradient");
}

// Keys in three parts, one of which some rows do not see, merged: the same as all keys at once.
void check_merge() {
  const Shape shape{2, 4, 2, 16, 30, 16};
  const Inputs inputs = make_inputs(shape);
  at::Tensor allowed = at::ones({16, 30}, at::kBool);
  allowed.slice(0, 0, 4).slice(1, 0, 10).fill_(false);  // the first part is hidden from four rows
  allowed[2].fill_(false);                              // and one row sees nothing at all
  const Reference want = reference(inputs, allowed, 0.5);
  const auto on_device = [&](const at::Tensor& x) { return inputs.on_device(x, at::kFloat); };
  AttentionBlock merged;
  for (const auto& [start, end] : std::vector<std::pair<int64_t, int64_t>>{{0, 10}, {10, 17}, {17, 30}}) {
    const BlockMask mask{false, allowed.slice(1, start, end).to(g_device)};
    const AttentionBlock block =
        attention_block_forward(on_device(inputs.q), on_device(inputs.k.slice(2, start, end)), on_device(inputs.v.slice(2, start, end)), mask, 0.5);
    if (merged.out_BHLD.defined()) {
      merge_attention_block(merged, block);
    } else {
      merged = block;
    }
  }
  expect_close("merged out", merged.out_BHLD, want.out, 2e-6);
  expect_close("merged lse", merged.lse_BHL, want.lse, 2e-6);
}

// A NaN in one block's keys must not be weighed away.
void check_merge_keeps_nan() {
  const auto make = [] { return at::randn({1, 2, 6, 8}, at::kFloat).to(g_device); };
  const at::Tensor q = make(), k = make(), v = make(), poisoned = make();
  poisoned[0][1][3].fill_(std::numeric_limits<float>::quiet_NaN());
  const AttentionBlock merged = attention_block_forward(q, k, v, {}, 1);
  merge_attention_block(merged, attention_block_forward(q, poisoned, v, {}, 1));
  require(merged.out_BHLD[0][1].isnan().all().item<bool>(), "the merged output hides a NaN");
  require(merged.lse_BHL[0][1].isnan().all().item<bool>(), "the merged log-sum-exp hides a NaN");
  require(merged.out_BHLD[0][0].isfinite().all().item<bool>(), "the NaN reached another head");
}

// Whatever the strides are: values that are no neighbours, heads and rows that are broadcast.
void check_strides() {
  const auto type = at::kFloat;
  const at::Tensor q = at::randn({1, 4, 8, 6}).to(type).to(g_device).transpose(2, 3);  // [1, 4, 6, 8], stride(-1) != 1
  const at::Tensor k = at::randn({1, 1, 6, 8}).to(type).to(g_device).expand({1, 4, 6, 8});
  const at::Tensor grad_out = at::ones({1, 1, 1, 1}).to(type).to(g_device).expand({1, 4, 6, 8});
  const BlockMask causal{true, {}};
  const AttentionBlock strided = attention_block_forward(q, k, k, causal, 0.5),
                       dense = attention_block_forward(q.contiguous(), k.contiguous(), k.contiguous(), causal, 0.5);
  require(at::allclose(strided.out_BHLD, dense.out_BHLD, 1e-6, 1e-6), "the output depends on the strides");
  const auto got = attention_block_backward(grad_out, q, k, k, strided, causal, 0.5);
  const auto want = attention_block_backward(grad_out.contiguous(), q.contiguous(), k.contiguous(), k.contiguous(), dense, causal, 0.5);
  require(at::allclose(got.q_BHLD, want.q_BHLD, 1e-5, 1e-6), "the gradient of q depends on the strides");
  require(at::allclose(got.k_BKMD, want.k_BKMD, 1e-5, 1e-6), "the gradient of k depends on the strides");
  require(at::allclose(got.v_BKMD, want.v_BKMD, 1e-5, 1e-6), "the gradient of v depends on the strides");
}

// Blocks of different lengths in one call, in any order, are the blocks one by one.
void check_packed_blocks(at::ScalarType type, bool causal) {
  const std::vector<BlockRange> blocks = {{0, 7, 3, 7}, {12, 1, 20, 1}, {7, 5, 12, 5}, {20, 40, 40, 40}};
  const Inputs inputs = make_inputs({1, 6, 2, 64, 90, 24});
  const at::Tensor q = inputs.on_device(inputs.q, type), k = inputs.on_device(inputs.k, type), v = inputs.on_device(inputs.v, type),
                   grad_out = inputs.on_device(inputs.grad_out, type);
  const AttentionBlock merged{at::zeros_like(q), at::zeros({1, 6, 64}, q.options().dtype(at::kFloat))};
  const std::vector<AttentionBlock> together = attention_blocks_forward(q, k, v, blocks, causal, 0.4);
  const BlockMask mask{causal, {}};
  const auto part = [](const at::Tensor& x, int64_t start, int64_t length) { return x.narrow(2, start, length); };
  const auto want = [](const at::Tensor& x) { return x.to(at::kCPU).to(at::kDouble); };
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto& [query, queries, key, keys] = blocks[i];
    const AttentionBlock alone = attention_block_forward(part(q, query, queries), part(k, key, keys), part(v, key, keys), mask, 0.4);
    expect_close("packed out", together[i].out_BHLD, want(alone.out_BHLD), out_limit(type));
    expect_close("packed lse", together[i].lse_BHL, want(alone.lse_BHL), out_limit(type));
    part(merged.out_BHLD, query, queries).copy_(alone.out_BHLD);
    part(merged.lse_BHL, query, queries).copy_(alone.lse_BHL);
  }
  const std::vector<AttentionBlockGradients> shares = attention_blocks_backward(grad_out, q, k, v, merged, blocks, causal, 0.4);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto& [query, queries, key, keys] = blocks[i];
    const AttentionBlock own{part(merged.out_BHLD, query, queries), part(merged.lse_BHL, query, queries)};
    const AttentionBlockGradients alone =
        attention_block_backward(part(grad_out, query, queries), part(q, query, queries), part(k, key, keys), part(v, key, keys), own, mask, 0.4);
    expect_close("packed grad q", shares[i].q_BHLD, want(alone.q_BHLD), grad_limit(type));
    expect_close("packed grad k", shares[i].k_BKMD, want(alone.k_BKMD), grad_limit(type));
    expect_close("packed grad v", shares[i].v_BKMD, want(alone.v_BKMD), grad_limit(type));
  }
}

std::vector<device_test::Check> checks() {
  return {
      {"float32 blocks", [] { check_types(at::kFloat); }},
      {"float64 blocks", [] { check_types(at::kDouble); }},
      {"bfloat16 blocks", [] { check_types(at::kBFloat16); }},
      {"float16 blocks", [] { check_types(at::kHalf); }},
      {"odd head size", check_odd_head_size},
      {"rows that see no key", check_masked_rows},
      {"empty blocks", check_empty_blocks},
      {"any strides", check_strides},
      {"merge by log-sum-exp", check_merge},
      {"packed blocks", [] { check_packed_blocks(at::kBFloat16, false); }},
      {"packed causal blocks", [] { check_packed_blocks(at::kBFloat16, true); }},
      {"a NaN survives a merge", check_merge_keeps_nan},
  };
}

}  // namespace

int main(int argc, char** argv) { return device_test::run_program("test_operators", argc, argv, checks); }

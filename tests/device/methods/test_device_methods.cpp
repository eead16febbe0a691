// Every method of attention over ranks that are threads of this process, on the device that --device names, against attention over the whole sequence
// written out in float64 on the CPU: causal rows and packed documents. One GPU holds all ranks, where NCCL could form no group of two.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "daemon/worker/context_parallel/attention_method.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/attention/attention_cases.h"
#include "tests/daemon/worker/support/rank_threads.h"
#include "tests/device/checks.h"

namespace {

using namespace ringwright;
using namespace ringwright::test;
using device_test::g_device;
using device_test::require;

constexpr int64_t kTokens = 150;
// On a GPU bfloat16 takes the flash kernels, float32 the composed ones.
constexpr double kFloatLimit = 1e-5, kBfloatLimit = 3e-2;

struct Case {
  std::string mask, layout;
};
const Case kCases[] = {{"causal", "round_robin"}, {"documents", "thd"}, {"documents", "balanced"}, {"window", "round_robin"}};

NamedLayout layout_of(const Case& each, int cp) {
  for (const NamedMask& mask : all_masks(kTokens)) {
    if (mask.name != each.mask) continue;
    for (NamedLayout& layout : all_layouts(cp, kTokens, mask.mask))
      if (layout.name == each.layout) return layout;
  }
  throw std::runtime_error("no such case: " + each.mask + ", " + each.layout);
}

Tensors on_device(const Tensors& local) { return {local.q.to(g_device), local.k.to(g_device), local.v.to(g_device), local.grad_out.to(g_device)}; }

Gradients on_cpu(const Gradients& got) { return {got.out.cpu(), got.q.cpu(), got.k.cpu(), got.v.cpu()}; }

void check_method(std::string_view method, const Case& each, int cp, at::ScalarType type) {
  const NamedLayout layout = layout_of(each, cp);
  const Shape shape{.heads = 12, .kv_heads = cp == 4 ? 4 : 6, .head_size = 32};
  if (!worker::attention_refusal(method, {*layout.layout, layout.mask, shape.heads, shape.kv_heads}).empty()) return;
  const Tensors full = make_tensors(shape, layout.padded_length);
  const Gradients want = reference(full, allowed_matrix(layout.mask, layout.padded_length));
  const double limit = type == at::kFloat ? kFloatLimit : kBfloatLimit;
  run_on_threads(cp, [&](const worker::ProcessGroups& ranks) {
    const worker::ProcessGroup& group = ranks.group("cp");
    const at::Tensor map = local_map(*layout.layout, layout.padded_length, group.rank);
    const Tensors local = on_device(cut(full, map, type));
    const worker::AttentionFunction attend = worker::make_attention(method, layout.layout, group);
    const Gradients first = run(local, attend, layout.mask), again = run(local, attend, layout.mask);
    require(first.out.device().type() == g_device.type(), "the output is on another device");
    // A GPU's kernels add up gradients in no fixed order.
    const bool same = g_device.is_cpu() ? equal_bits(first, again) : largest_difference(on_cpu(again), want, map) <= limit;
    require(same, fmt::format("rank {}: a second call gives other numbers", group.rank));
    const double worst = largest_difference(on_cpu(first), want, map);
    require(worst <= limit, fmt::format("rank {}: relative difference {:.3g}, allowed {:g}", group.rank, worst, limit));
  });
}

std::vector<device_test::Check> checks() {
  std::vector<device_test::Check> table;
  for (const layout::MethodEntry& method : layout::methods()) {
    for (const Case& each : kCases) {
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        table.push_back(
            {fmt::format("{}, {} under {}, {}", method.name, each.mask, each.layout, c10::toString(type)), [name = method.name, each, type] {
               for (const int cp : {2, 4}) check_method(name, each, cp, type);
             }});
      }
    }
  }
  return table;
}

}  // namespace

int main(int argc, char** argv) { return device_test::run_program("test_device_methods", argc, argv, checks); }

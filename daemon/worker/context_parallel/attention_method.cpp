#include "daemon/worker/context_parallel/attention_method.h"

#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "daemon/worker/context_parallel/all_gather_attention.h"
#include "daemon/worker/context_parallel/all_to_all_attention.h"
#include "daemon/worker/context_parallel/attention_plan.h"
#include "daemon/worker/context_parallel/ranged_attention.h"
#include "daemon/worker/context_parallel/ring_attention.h"
#include "daemon/worker/context_parallel/whole_attention.h"
#include "shared/base/error.h"
#include "shared/base/text.h"
#include "shared/layout/methods.h"

namespace ringwright::worker {
namespace {

// What a backward pass needs beside what autograd saves.
struct Call : torch::CustomClassHolder {
  Call(c10::intrusive_ptr<AttentionMethod> with_method, const layout::Mask& with_mask, double with_scale)
      : method(std::move(with_method)), mask(with_mask), scale(with_scale) {}

  c10::intrusive_ptr<AttentionMethod> method;
  layout::Mask mask;
  double scale;
  std::vector<at::Tensor> kept;  // not among autograd's saved tensors, which live until the backward pass is over
};

class MethodFunction : public torch::autograd::Function<MethodFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD,
                            const c10::intrusive_ptr<Call>& call) {
    AttentionForward result = call->method->forward({q_BHLD, k_BKLD, v_BKLD, call->scale}, call->mask);
    call->kept = std::move(result.kept);
    context->save_for_backward({q_BHLD, k_BKLD, v_BKLD, result.merged.out_BHLD, result.merged.lse_BHL});
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    return result.merged.out_BHLD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto call = c10::static_intrusive_pointer_cast<Call>(context->saved_data["call"].toCapsule());
    AttentionForward forward{{saved[3], saved[4]}, std::exchange(call->kept, {})};
    AttentionBlockGradients result = call->method->backward(grads[0], {saved[0], saved[1], saved[2], call->scale}, forward, call->mask);
    return {result.q_BHLD, result.k_BKMD, result.v_BKMD, at::Tensor()};
  }
};

struct Maker {
  std::string_view method;
  c10::intrusive_ptr<AttentionMethod> (*make)(const AttentionSetup& setup);
};

constexpr Maker kMakers[] = {
    {layout::names::kRing, make_ring_method},
    {layout::names::kRanged, make_ranged_method},
    {layout::names::kAllGather, make_all_gather_method},
    {layout::names::kAllToAll, make_all_to_all_method},
    {layout::names::kAllToAllRing, make_all_to_all_ring_method},
};

const Maker& maker_of(std::string_view name) {
  const auto found = std::find_if(std::begin(kMakers), std::end(kMakers), [&](const Maker& maker) { return maker.method == name; });
  if (found != std::end(kMakers)) return *found;
  const std::string near = text::nearest(name, layout::method_names());
  throw Error({.code = "RW-CP-001",
               .what = fmt::format("no attention method is called \"{}\"", name),
               .where = "ringwright.cp.method",
               .expected = fmt::format("one of {}", fmt::join(layout::method_names(), ", ")),
               .action = near.empty() ? "choose one of these" : fmt::format("did you mean {}?", near),
               .exit_code = ExitCode::refused});
}

void check_request(std::string_view method, const AttentionRequest& request, int64_t length) {
  layout::check_mask(request.mask, length);
  const std::string reason = attention_refusal(method, request);
  if (reason.empty()) return;
  throw Error({.code = "RW-CP-002",
               .what = fmt::format("the method {} cannot honour this attention: {}", method, reason),
               .where = fmt::format("mask \"{}\", layout {}, cp {}, {} query heads, {} key/value heads", layout::describe(request.mask),
                                    request.layout.name(), request.layout.cp(), request.heads, request.kv_heads),
               .expected = "a method that can",
               .action = "set ringwright.cp.method to ring or all_gather, which take every mask",
               .exit_code = ExitCode::refused});
}

}  // namespace

std::string attention_refusal(std::string_view method, const AttentionRequest& request) {
  if (request.layout.replicates()) return "";  // every rank has all tokens: nothing is exchanged
  return layout::method_head_refusal(method, {request.heads, request.kv_heads}, request.layout.cp());
}

AttentionFunction differentiable(c10::intrusive_ptr<AttentionMethod> method, int cp_size) {
  return {[method = std::move(method)](const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const layout::Mask& mask,
                                       double scale) {
            return MethodFunction::apply(q_BHLD, k_BKLD, v_BKLD, c10::make_intrusive<Call>(method, mask, scale));
          },
          cp_size};
}

void check_attention(std::string_view method, const AttentionRequest& request, int64_t length) {
  check_request(maker_of(method).method, request, length);
}

void check_attention_blocks(int64_t holding, int64_t wanted, int cp_size) {
  if (holding == wanted) return;
  throw Error({.code = "RW-CP-004",
               .what = fmt::format("{} of {} attention blocks hold the CP group of {} ranks", holding, wanted, cp_size),
               .where = "attention set-up",
               .expected = "all of them: a block without the group would attend over its rank's own tokens alone",
               .action = "give every attention block of the model the sharded attention; this is a fault of the program",
               .exit_code = ExitCode::run_failed});
}

AttentionFunction make_attention(std::string_view method, std::shared_ptr<const layout::Layout> layout, const ProcessGroup& group) {
  const Maker& maker = maker_of(method);
  if (layout->cp() != group.size) {
    throw Error({.code = "RW-CP-003",
                 .what = fmt::format("the layout is for cp = {}, the CP group has {} ranks", layout->cp(), group.size),
                 .where = "context parallelism",
                 .expected = "the same number",
                 .action = "make the layout with the size of the mesh's cp axis",
                 .exit_code = ExitCode::run_failed});
  }
  const AttentionFunction attend = differentiable(maker.make({layout, group}), group.size);
  return {[attend, layout, name = maker.method](const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD,
                                                const layout::Mask& mask, double scale) {
            check_request(name, {*layout, mask, q_BHLD.size(1), k_BKLD.size(1)}, padded_length(*layout, q_BHLD.size(2)));
            return attend(q_BHLD, k_BKLD, v_BKLD, mask, scale);
          },
          group.size};
}

}  // namespace ringwright::worker

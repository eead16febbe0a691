#include "daemon/worker/context_parallel/token_gather.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

struct GatherPlan : torch::CustomClassHolder {
  ProcessGroup group;
  std::vector<at::Tensor> index_maps;
  int64_t axis = 0;
};

at::Tensor gather_in_order(const at::Tensor& local, const GatherPlan& plan) {
  const at::Tensor in_rank_order = at::cat(all_gather(local, plan.group), plan.axis);
  const at::Tensor order = at::cat(plan.index_maps).argsort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  return in_rank_order.index_select(plan.axis, order.to(local.device()));
}

class GatherFunction : public torch::autograd::Function<GatherFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& local, const c10::intrusive_ptr<GatherPlan>& plan) {
    context->saved_data["plan"] = c10::IValue::make_capsule(plan);
    return gather_in_order(local, *plan);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    const auto plan = c10::static_intrusive_pointer_cast<GatherPlan>(context->saved_data["plan"].toCapsule());
    std::vector<at::Tensor> parts;
    for (const at::Tensor& map : plan->index_maps) {
      parts.push_back(grads[0].index_select(plan->axis, map.to(grads[0].device())));
    }
    const std::vector<at::Tensor> received = all_to_all(parts, plan->group);
    at::Tensor sum = received.front().clone();
    for (size_t rank = 1; rank < received.size(); ++rank) {
      sum.add_(received[rank]);
    }
    return {sum, at::Tensor()};
  }
};

}  // namespace

at::Tensor gather_tokens(const at::Tensor& local, int64_t sequence_axis, const std::vector<at::Tensor>& index_maps, const ProcessGroup& group) {
  auto plan = c10::make_intrusive<GatherPlan>();
  plan->group = group;
  plan->index_maps = index_maps;
  plan->axis = sequence_axis;
  return GatherFunction::apply(local, plan);
}

}  // namespace ringwright::worker

#include "daemon/worker/context_parallel/token_gather.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include "daemon/worker/context_parallel/shard_errors.h"
#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

struct GatherPlan : torch::CustomClassHolder {
  ProcessGroup group;
  std::vector<at::Tensor> index_maps;
  int64_t axis = 0;
};

// Where the sequence in rank order holds each global position: the inverse of the maps behind each other.
at::Tensor order_of(const std::vector<at::Tensor>& index_maps) {
  const at::Tensor maps = at::cat(index_maps);
  const int64_t length = maps.numel();
  const at::Tensor order = at::full({length}, -1, at::kLong);
  if (length > 0 && maps.min().item<int64_t>() >= 0 && maps.max().item<int64_t>() < length) {
    order.index_copy_(0, maps, at::arange(length, at::kLong));
  }
  if (length > 0 && order.min().item<int64_t>() < 0) {
    throw_bad_argument(fmt::format("the index maps of {} ranks do not hold each of {} positions once", index_maps.size(), length),
                       "a permutation of the padded sequence");
  }
  return order;
}

at::Tensor gather_in_order(const at::Tensor& local, const GatherPlan& plan) {
  return at::cat(all_gather(local, plan.group), plan.axis).index_select(plan.axis, order_of(plan.index_maps).to(local.device()));
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

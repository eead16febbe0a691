#include "daemon/worker/context_parallel/mamba_exchange.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include "daemon/worker/context_parallel/shard_errors.h"
#include "daemon/worker/context_parallel/stream.h"
#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

struct ExchangeGroup : torch::CustomClassHolder {
  ProcessGroup group;
};

// Splits along one axis over the ranks, sends, and joins what came along the other.
at::Tensor exchange(const at::Tensor& x, int64_t split_axis, int64_t join_axis, const ProcessGroup& group) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : x.chunk(group.size, split_axis)) {
    parts.push_back(part.contiguous());
  }
  return at::cat(all_to_all(parts, group), join_axis);
}

class ExchangeFunction : public torch::autograd::Function<ExchangeFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, int64_t split_axis, int64_t join_axis,
                            const c10::intrusive_ptr<ExchangeGroup>& holder) {
    context->saved_data["group"] = c10::IValue::make_capsule(holder);
    context->saved_data["split_axis"] = split_axis;
    context->saved_data["join_axis"] = join_axis;
    return exchange(x, split_axis, join_axis, holder->group);
  }

  // An all-to-all of equal parts is its own inverse on the wire.
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    const auto holder = c10::static_intrusive_pointer_cast<ExchangeGroup>(context->saved_data["group"].toCapsule());
    const at::Tensor grad = exchange(grads[0], context->saved_data["join_axis"].toInt(), context->saved_data["split_axis"].toInt(), holder->group);
    return {grad, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor exchange_evenly(const at::Tensor& x, int64_t split_axis, int64_t join_axis, const ProcessGroup& group) {
  if (x.dim() < 2 || x.size(split_axis) % group.size != 0) {
    throw_bad_argument(
        fmt::format("{} {} over cp = {} ranks", x.dim() < 2 ? 0 : x.size(split_axis), split_axis == -1 ? "channels" : "tokens", group.size),
        "a number that cp divides");
  }
  if (group.size == 1) {
    return x;
  }
  auto holder = c10::make_intrusive<ExchangeGroup>();
  holder->group = group;
  return ExchangeFunction::apply(x, split_axis, join_axis, holder);
}

at::Tensor tensor_of(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

}  // namespace

at::Tensor context_to_hidden_parallel(const at::Tensor& x_BLC, const ProcessGroup& group) { return exchange_evenly(x_BLC, -1, -2, group); }

at::Tensor hidden_to_context_parallel(const at::Tensor& x_BPC, const ProcessGroup& group) { return exchange_evenly(x_BPC, -2, -1, group); }

MambaParameters::MambaParameters(const layout::MambaShape& shape, int cp, int rank) : shape_(shape), slices_(layout::mamba_slices(shape, cp, rank)) {}

at::Tensor MambaParameters::per_head(const at::Tensor& parameter_H) const {
  if (parameter_H.size(0) != shape_.heads) {
    throw_bad_argument(fmt::format("a parameter of {} heads in a layer of {}", parameter_H.size(0), shape_.heads), "a value for each head");
  }
  return parameter_H.narrow(0, slices_.heads.start, slices_.heads.length);
}

at::Tensor MambaParameters::convolution(const at::Tensor& parameter) const {
  if (!parameter.defined()) {
    return parameter;
  }
  const int64_t channels = shape_.heads * shape_.head_size + 2 * shape_.groups * shape_.state;
  if (parameter.size(0) != channels) {
    throw_bad_argument(fmt::format("a convolution of {} channels in a layer of {}", parameter.size(0), channels), "channels x, B and C");
  }
  std::vector<at::Tensor> parts;
  for (const layout::ChannelRange& range : {slices_.conv_x, slices_.conv_b, slices_.conv_c}) {
    parts.push_back(parameter.narrow(0, range.start, range.length));
  }
  const at::Tensor slice = at::cat(parts);
  return slice.dim() == 3 ? slice.squeeze(1) : slice;
}

at::Tensor repeat_groups(const at::Tensor& state, const layout::MambaShape& shape, int cp) {
  const int64_t repeat = layout::mamba_share(shape, cp).group_repeat;
  return repeat == 1 ? state : state.unflatten(-1, {shape.groups, shape.state}).repeat_interleave(repeat, -2).flatten(-2);
}

MambaExchange::MambaExchange(const layout::MambaShape& shape, std::shared_ptr<const layout::Layout> layout, const ProcessGroup& group)
    : shape_(shape), layout_(std::move(layout)), group_(group) {
  layout::mamba_share(shape, group.size);
  if (layout_->cp() != group_.size) {
    throw_misuse(fmt::format("the layout is for cp = {}, the CP group has {} ranks", layout_->cp(), group_.size), "the same number");
  }
}

at::Tensor MambaExchange::to_global_order(const at::Tensor& x_BPC) const {
  return group_.size == 1 ? x_BPC : x_BPC.index_select(-2, tensor_of(layout::undo_order(*layout_, x_BPC.size(-2))).to(x_BPC.device()));
}

at::Tensor MambaExchange::to_rank_order(const at::Tensor& x_BPC) const {
  return group_.size == 1 ? x_BPC : x_BPC.index_select(-2, tensor_of(layout::redo_order(*layout_, x_BPC.size(-2))).to(x_BPC.device()));
}

at::Tensor MambaExchange::pre(const at::Tensor& projected_BLC) const {
  const int64_t inner = shape_.heads * shape_.head_size, state = shape_.groups * shape_.state;
  if (projected_BLC.size(-1) != 2 * (inner + state) + shape_.heads) {
    throw_bad_argument(fmt::format("{} projected channels in a layer of {}", projected_BLC.size(-1), 2 * (inner + state) + shape_.heads),
                       "channels z, x, B, C and dt");
  }
  std::vector<at::Tensor> sections = projected_BLC.split_with_sizes({inner, inner, state, state, shape_.heads}, -1);
  for (at::Tensor* section : {&sections[2], &sections[3]}) {
    *section = repeat_groups(*section, shape_, group_.size);
  }
  for (at::Tensor& section : sections) {
    section = context_to_hidden_parallel(section, group_);
  }
  return to_global_order(at::cat(sections, -1));
}

at::Tensor MambaExchange::post(const at::Tensor& scanned_BPD) const { return hidden_to_context_parallel(to_rank_order(scanned_BPD), group_); }

at::Tensor mamba_sequence_index(const MambaDocuments& documents, std::optional<int64_t> rows, int64_t local_length, int cp) {
  if (documents.sequence_index.defined()) {
    return documents.sequence_index;
  }
  const at::Tensor& offsets = documents.padded_offsets.defined() ? documents.padded_offsets : documents.offsets;
  if (!offsets.defined()) {
    return {};
  }
  const int64_t length = local_length * cp;
  if (rows) {
    return at::zeros({*rows, length}, offsets.options().dtype(at::kInt));
  }
  return at::tensor(layout::sequence_index(entries_of(offsets), length), at::kInt).to(offsets.device()).unsqueeze(0);
}

}  // namespace ringwright::worker

#include "daemon/worker/context_parallel/ring_attention.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <map>

#include "daemon/worker/context_parallel/ring_plan.h"
#include "daemon/worker/kernels/attention_block.h"
#include "daemon/worker/parallel/collectives.h"
#include "shared/base/error.h"

namespace ringwright::worker {
namespace {

// A block on its way: slot-major, so that its leading slots are one piece of memory (for one row) and travel without a copy.
struct KeyValues {
  at::Tensor k_BMKD;
  at::Tensor v_BMKD;

  KeyValues leading(int64_t length) const { return {k_BMKD.narrow(1, 0, length), v_BMKD.narrow(1, 0, length)}; }
  at::Tensor k_BKMD() const { return k_BMKD.transpose(1, 2); }
  at::Tensor v_BKMD() const { return v_BMKD.transpose(1, 2); }
};

enum Tag { kKeys = 0, kValues = 1, kKeyGradients = 2, kValueGradients = 3 };

at::ScalarType accumulation_type(const at::Tensor& tensor) { return tensor.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

class Ring : public torch::CustomClassHolder {
 public:
  Ring(std::shared_ptr<const layout::Layout> layout, const ProcessGroup& group) : layout_(std::move(layout)), group_(group) {}

  struct Forward {
    AttentionBlock merged;  // out in the type of q
    KeyValues kept;         // the first block that came in, kept for the backward (undefined at cp = 1)
  };
  Forward forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, bool causal, double scale);
  AttentionBlockGradients backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD,
                                   const Forward& saved, bool causal, double scale);

 private:
  const RingPlan& plan(int64_t local_length, bool causal);
  int source(int step) const { return (group_.rank - step + group_.size) % group_.size; }
  KeyValues receive_buffer(const at::Tensor& k_BKLD, int64_t length, at::ScalarType type) const;
  // Sends `block` to the next rank while `incoming` is filled from the previous one.
  Transfers shift(const KeyValues& block, const KeyValues& incoming, Tag key_tag, Tag value_tag) const;
  KeyValues source_gradient(const RingPlan& plan, int source, const KeyValues& held, const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD,
                            const AttentionBlock& merged, double scale, const at::Tensor& grad_q_BHLD) const;
  Transfers shift_keys(const RingPlan& plan, const KeyValues& held, KeyValues& incoming, const at::Tensor& k_BKLD, int hop) const;

  std::shared_ptr<const layout::Layout> layout_;
  ProcessGroup group_;
  std::map<std::pair<int64_t, bool>, RingPlan> plans_;
};

// A model has one or two lengths at a time (training, validation); more than this many are not kept.
constexpr size_t kPlansMax = 16;

const RingPlan& Ring::plan(int64_t local_length, bool causal) {
  const auto key = std::pair(local_length, causal);
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    if (plans_.size() >= kPlansMax) {
      plans_.clear();
    }
    found = plans_.emplace(key, RingPlan(*layout_, local_length, group_.rank, causal)).first;
  }
  return found->second;
}

KeyValues Ring::receive_buffer(const at::Tensor& k_BKLD, int64_t length, at::ScalarType type) const {
  const auto make = [&] { return at::empty({k_BKLD.size(0), length, k_BKLD.size(1), k_BKLD.size(3)}, k_BKLD.options().dtype(type)); };
  return {make(), make()};
}

Transfers Ring::shift(const KeyValues& block, const KeyValues& incoming, Tag key_tag, Tag value_tag) const {
  const int next = (group_.rank + 1) % group_.size, previous = (group_.rank + group_.size - 1) % group_.size;
  return Transfers(group_, {{block.k_BMKD.contiguous(), next, key_tag}, {block.v_BMKD.contiguous(), next, value_tag}},
                   {{incoming.k_BMKD, previous, key_tag}, {incoming.v_BMKD, previous, value_tag}});
}

// The block that is held makes its hop `hop`, and the block behind it comes in.
Transfers Ring::shift_keys(const RingPlan& plan, const KeyValues& held, KeyValues& incoming, const at::Tensor& k_BKLD, int hop) const {
  incoming = receive_buffer(k_BKLD, plan.key_length(source(hop), hop), k_BKLD.scalar_type());
  return shift(held.leading(plan.key_length(source(hop - 1), hop)), incoming, kKeys, kValues);
}

Ring::Forward Ring::forward(const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, bool causal, double scale) {
  const RingPlan& plan = this->plan(q_BHLD.size(2), causal);
  const at::ScalarType type = accumulation_type(q_BHLD);
  KeyValues held{k_BKLD.transpose(1, 2), v_BKLD.transpose(1, 2)}, incoming;
  Forward result;
  Transfers transfers;
  if (group_.size > 1) {
    transfers = shift_keys(plan, held, incoming, k_BKLD, 1);
  }
  AttentionBlock merged = attention_block_forward(q_BHLD, k_BKLD, v_BKLD, {.causal = causal, .allowed_LM = {}}, scale);
  merged.out_BHLD = merged.out_BHLD.to(type);
  for (int step = 1; step < group_.size; ++step) {
    transfers.wait();
    held = incoming;
    if (step == 1) {
      result.kept = held;
    }
    if (step + 1 < group_.size) {
      transfers = shift_keys(plan, held, incoming, k_BKLD, step + 1);
    }
    for (const Rectangle& part : plan.rectangles(source(step))) {
      const KeyValues keys = held.leading(part.key_length);
      const AttentionBlock block =
          attention_block_forward(q_BHLD.narrow(2, part.query_start, part.query_length), keys.k_BKMD(), keys.v_BKMD(), {}, scale);
      merge_attention_block(
          {merged.out_BHLD.narrow(2, part.query_start, part.query_length), merged.lse_BHL.narrow(2, part.query_start, part.query_length)}, block);
    }
  }
  merged.out_BHLD = merged.out_BHLD.to(q_BHLD.scalar_type());
  result.merged = merged;
  return result;
}

// Adds one source's share: `into` and `other` have leading slots of the same block, of different lengths; the longer one takes the sum.
KeyValues add_leading(KeyValues into, KeyValues other) {
  if (into.k_BMKD.size(1) < other.k_BMKD.size(1)) {
    std::swap(into, other);
  }
  const int64_t length = other.k_BMKD.size(1);
  into.k_BMKD.narrow(1, 0, length).add_(other.k_BMKD);
  into.v_BMKD.narrow(1, 0, length).add_(other.v_BMKD);
  return into;
}

// What this rank's queries give to a source's keys and values; their own gradient is added to grad_q_BHLD.
KeyValues Ring::source_gradient(const RingPlan& plan, int source, const KeyValues& held, const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD,
                                const AttentionBlock& merged, double scale, const at::Tensor& grad_q_BHLD) const {
  const at::ScalarType type = accumulation_type(q_BHLD);
  KeyValues gradient = receive_buffer(held.k_BKMD(), 0, type);
  for (const Rectangle& part : plan.rectangles(source)) {
    const auto queries = [&](const at::Tensor& x) { return x.narrow(2, part.query_start, part.query_length); };
    const KeyValues keys = held.leading(part.key_length);
    const AttentionBlockGradients share = attention_block_backward(queries(grad_out_BHLD), queries(q_BHLD), keys.k_BKMD(), keys.v_BKMD(),
                                                                   {queries(merged.out_BHLD), queries(merged.lse_BHL)}, {}, scale);
    queries(grad_q_BHLD).add_(share.q_BHLD);
    gradient = add_leading({share.k_BKMD.transpose(1, 2).to(type), share.v_BKMD.transpose(1, 2).to(type)}, gradient);
  }
  return gradient;
}

// Every block goes round again, with its gradient one rank behind it; the own block comes last, while its gradient is on the last hop home.
AttentionBlockGradients Ring::backward(const at::Tensor& grad_out_BHLD, const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD,
                                       const Forward& saved, bool causal, double scale) {
  const RingPlan& plan = this->plan(q_BHLD.size(2), causal);
  const at::ScalarType type = accumulation_type(q_BHLD);
  at::Tensor grad_q_BHLD = at::zeros_like(q_BHLD, q_BHLD.options().dtype(type));
  KeyValues held = saved.kept, incoming, gradient, incoming_gradient;
  Transfers gradient_transfers;
  for (int step = 1; step < group_.size; ++step) {
    Transfers transfers;
    if (step + 1 < group_.size) {
      transfers = shift_keys(plan, held, incoming, k_BKLD, step + 1);
    }
    const KeyValues own = source_gradient(plan, source(step), held, grad_out_BHLD, q_BHLD, saved.merged, scale, grad_q_BHLD);
    gradient_transfers.wait();
    gradient = step == 1 ? own : add_leading(own, incoming_gradient);
    incoming_gradient = receive_buffer(k_BKLD, plan.gradient_length(source(step + 1), step), type);
    gradient_transfers = shift(gradient, incoming_gradient, kKeyGradients, kValueGradients);
    transfers.wait();
    held = incoming;
  }
  AttentionBlockGradients result =
      attention_block_backward(grad_out_BHLD, q_BHLD, k_BKLD, v_BKLD, saved.merged, {.causal = causal, .allowed_LM = {}}, scale);
  KeyValues own{result.k_BKMD.transpose(1, 2).to(type), result.v_BKMD.transpose(1, 2).to(type)};
  if (group_.size > 1) {
    gradient_transfers.wait();
    own = add_leading(own, incoming_gradient);
  }
  return {grad_q_BHLD.add_(result.q_BHLD).to(q_BHLD.scalar_type()), own.k_BKMD().to(k_BKLD.scalar_type()), own.v_BKMD().to(v_BKLD.scalar_type())};
}

class RingFunction : public torch::autograd::Function<RingFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD,
                            const c10::intrusive_ptr<Ring>& ring, bool causal, double scale) {
    Ring::Forward result = ring->forward(q_BHLD, k_BKLD, v_BKLD, causal, scale);
    context->save_for_backward({q_BHLD, k_BKLD, v_BKLD, result.merged.out_BHLD, result.merged.lse_BHL, result.kept.k_BMKD, result.kept.v_BMKD});
    context->saved_data["ring"] = c10::IValue::make_capsule(ring);
    context->saved_data["causal"] = causal;
    context->saved_data["scale"] = scale;
    return result.merged.out_BHLD;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto ring = c10::static_intrusive_pointer_cast<Ring>(context->saved_data["ring"].toCapsule());
    const Ring::Forward forward{{saved[3], saved[4]}, {saved[5], saved[6]}};
    AttentionBlockGradients result = ring->backward(grads[0], saved[0], saved[1], saved[2], forward, context->saved_data["causal"].toBool(),
                                                    context->saved_data["scale"].toDouble());
    return {result.q_BHLD, result.k_BKMD, result.v_BKMD, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

void refuse_documents(const AttentionMask& mask) {
  if (mask.document_offsets.empty()) {
    return;
  }
  throw Error({.code = "RW-CP-001",
               .what = fmt::format("ring attention was given {} packed documents", mask.document_offsets.size() - 1),
               .where = "context parallelism",
               .expected = "one document per row",
               .action = "train packed documents with cp = 1, or do not pack",
               .exit_code = ExitCode::refused});
}

}  // namespace

AttentionFunction make_ring_attention(std::shared_ptr<const layout::Layout> layout, const ProcessGroup& group) {
  if (layout->cp() != group.size) {
    throw Error({.code = "RW-CP-003",
                 .what = fmt::format("the layout is for cp = {}, the CP group has {} ranks", layout->cp(), group.size),
                 .where = "context parallelism",
                 .expected = "the same number",
                 .action = "make the layout with the size of the mesh's cp axis",
                 .exit_code = ExitCode::run_failed});
  }
  auto ring = c10::make_intrusive<Ring>(std::move(layout), group);
  return [ring](const at::Tensor& q_BHLD, const at::Tensor& k_BKLD, const at::Tensor& v_BKLD, const AttentionMask& mask, double scale) {
    refuse_documents(mask);
    return RingFunction::apply(q_BHLD, k_BKLD, v_BKLD, ring, mask.kind == AttentionMask::Kind::causal, scale);
  };
}

}  // namespace ringwright::worker

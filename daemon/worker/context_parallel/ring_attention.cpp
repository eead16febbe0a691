#include "daemon/worker/context_parallel/ring_attention.h"

#include <utility>

#include "daemon/worker/context_parallel/attention_tiles.h"
#include "daemon/worker/context_parallel/plan_cache.h"
#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

enum Tag { kKeys = 0, kValues = 1, kKeyGradients = 2, kValueGradients = 3 };

class RingAttention final : public AttentionMethod {
 public:
  explicit RingAttention(const AttentionSetup& setup) : layout_(setup.layout), group_(setup.group) {}

  AttentionForward forward(const AttentionOperands& operands, const layout::Mask& mask) override;
  AttentionBlockGradients backward(const at::Tensor& grad_out_BHLD, const AttentionOperands& operands, AttentionForward& saved,
                                   const layout::Mask& mask) override;

 private:
  std::shared_ptr<const RingPlan> plan(int64_t local_length, const layout::Mask& mask) {
    return plans_.get(local_length, mask, [&] { return RingPlan(*layout_, local_length, group_.rank, mask); });
  }
  // Sends `block` to the next rank while `incoming` is filled from the previous one.
  Transfers shift(const KeyBlock& block, const KeyBlock& incoming, Tag key_tag, Tag value_tag) const;
  // The block that is held makes its hop `step`, and the one behind it comes in.
  Transfers shift_keys(const RingPlan& plan, const KeyBlock& held, KeyBlock& incoming, const at::Tensor& k_BKLD, int step) const;
  // The block of step 1: kept by the forward pass, or sent again for a second backward pass of one graph.
  KeyBlock first_block(const RingPlan& plan, const AttentionOperands& operands, AttentionForward& saved) const;

  std::shared_ptr<const layout::Layout> layout_;
  ProcessGroup group_;
  PlanCache<RingPlan> plans_;
};

Transfers RingAttention::shift(const KeyBlock& block, const KeyBlock& incoming, Tag key_tag, Tag value_tag) const {
  const int next = (group_.rank + 1) % group_.size, previous = (group_.rank + group_.size - 1) % group_.size;
  return Transfers(group_, {{block.k_BMKD.contiguous(), next, key_tag}, {block.v_BMKD.contiguous(), next, value_tag}},
                   {{incoming.k_BMKD, previous, key_tag}, {incoming.v_BMKD, previous, value_tag}});
}

Transfers RingAttention::shift_keys(const RingPlan& plan, const KeyBlock& held, KeyBlock& incoming, const at::Tensor& k_BKLD, int step) const {
  incoming = KeyBlock::empty(k_BKLD, plan.incoming(step), k_BKLD.scalar_type());
  return shift(held.part(plan.outgoing(step)), incoming, kKeys, kValues);
}

KeyBlock RingAttention::first_block(const RingPlan& plan, const AttentionOperands& operands, AttentionForward& saved) const {
  const std::vector<at::Tensor> kept = std::exchange(saved.kept, {});
  if (!kept.empty()) return {kept[0], kept[1], plan.incoming(1)};
  KeyBlock incoming;
  shift_keys(plan, KeyBlock::whole(operands.k_BKLD, operands.v_BKLD), incoming, operands.k_BKLD, 1).wait();
  return incoming;
}

AttentionForward RingAttention::forward(const AttentionOperands& operands, const layout::Mask& mask) {
  const std::shared_ptr<const RingPlan> plan = this->plan(operands.q_BHLD.size(2), mask);
  KeyBlock held = KeyBlock::whole(operands.k_BKLD, operands.v_BKLD), incoming;
  AttentionForward result;
  AttentionSum sum(operands.q_BHLD, operands.scale);
  for (int step = 0; step < group_.size; ++step) {
    Transfers transfers;
    if (step + 1 < group_.size) transfers = shift_keys(*plan, held, incoming, operands.k_BKLD, step + 1);
    sum.add(plan->attention().tiles(plan->source(step)), held);
    transfers.wait();
    held = incoming;
    if (step == 0 && group_.size > 1) result.kept = {held.k_BMKD, held.v_BMKD};
  }
  result.merged = sum.finish();
  return result;
}

// Every block goes round again, with its gradient one rank behind it; the own block comes last, while its gradient is on the last hop home. What
// is under way is awaited after the first lane of heads of a step, so that buffers of two steps do not pile up.
AttentionBlockGradients RingAttention::backward(const at::Tensor& grad_out_BHLD, const AttentionOperands& operands, AttentionForward& saved,
                                                const layout::Mask& mask) {
  const std::shared_ptr<const RingPlan> plan = this->plan(operands.q_BHLD.size(2), mask);
  const at::Tensor& k_BKLD = operands.k_BKLD;
  AttentionGradientSum sum(grad_out_BHLD, operands.q_BHLD, k_BKLD, saved.merged, operands.scale, plan->attention().largest_tile(), group_.size > 1);
  KeyBlock held, incoming, gradient, incoming_gradient;
  Transfers gradient_transfers;
  if (group_.size > 1) held = first_block(*plan, operands, saved);
  for (int step = 1; step < group_.size; ++step) {
    const std::vector<AttentionTile>& tiles = plan->attention().tiles(plan->source(step));
    KeyGradientSum key_sum = sum.key_sum(plan->outgoing_gradient(step));
    Transfers transfers;
    for (const HeadLane& lane : sum.lanes()) {
      sum.add(tiles, held, lane, key_sum);
      if (lane.index > 0) continue;
      gradient_transfers.wait();
      if (step > 1) key_sum.add(std::exchange(incoming_gradient, {}));
      gradient = {};
      if (step + 1 < group_.size) transfers = shift_keys(*plan, held, incoming, k_BKLD, step + 1);
    }
    gradient = key_sum.finish();
    incoming_gradient = KeyBlock::empty(k_BKLD, plan->incoming_gradient(step), accumulation_type(operands.q_BHLD));
    gradient_transfers = shift(gradient, incoming_gradient, kKeyGradients, kValueGradients);
    transfers.wait();
    held = std::move(incoming);
  }
  held = KeyBlock::whole(k_BKLD, operands.v_BKLD);
  KeyGradientSum key_sum = sum.key_sum(held.slots);
  sum.add(plan->attention().tiles(group_.rank), held, key_sum);
  gradient_transfers.wait();
  if (group_.size > 1) key_sum.add(incoming_gradient);
  return block_gradients(sum.finish_queries(), key_sum.finish(), k_BKLD.scalar_type());
}

}  // namespace

c10::intrusive_ptr<AttentionMethod> make_ring_method(const AttentionSetup& setup) { return c10::make_intrusive<RingAttention>(setup); }

}  // namespace ringwright::worker

#include "daemon/worker/context_parallel/ranged_attention.h"

#include <utility>

#include "daemon/worker/context_parallel/attention_tiles.h"
#include "daemon/worker/context_parallel/plan_cache.h"
#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

enum Tag { kKeys = 0, kValues = 1, kKeyGradients = 2, kValueGradients = 3 };

// One block and the transfers that fill it.
struct Incoming {
  KeyBlock block;
  Transfers transfers;
};

class RangedAttention final : public AttentionMethod {
 public:
  explicit RangedAttention(const AttentionSetup& setup) : layout_(setup.layout), group_(setup.group) {}

  AttentionForward forward(const AttentionOperands& operands, const layout::Mask& mask) override {
    const std::shared_ptr<const AttentionPlan> plan = this->plan(operands.q_BHLD.size(2), mask);
    const KeyBlock own = KeyBlock::whole(operands.k_BKLD, operands.v_BKLD);
    AttentionSum sum(operands.q_BHLD, operands.scale);
    Incoming next = exchange(*plan, own, operands.k_BKLD, 1);
    sum.add(plan->tiles(group_.rank), own);
    for (int step = 1; step < group_.size; ++step) {
      Incoming held = std::exchange(next, {});
      held.transfers.wait();
      next = exchange(*plan, own, operands.k_BKLD, step + 1);
      sum.add(plan->tiles(source(step)), held.block);
    }
    return {sum.finish(), {}};
  }

  // The keys come again: they cost less to send than to keep for every layer. Gradients go back the way that the keys came.
  AttentionBlockGradients backward(const at::Tensor& grad_out_BHLD, const AttentionOperands& operands, AttentionForward& saved,
                                   const layout::Mask& mask) override {
    const std::shared_ptr<const AttentionPlan> plan = this->plan(operands.q_BHLD.size(2), mask);
    const KeyBlock own = KeyBlock::whole(operands.k_BKLD, operands.v_BKLD);
    AttentionGradientSum sum(grad_out_BHLD, operands.q_BHLD, operands.k_BKLD, saved.merged, operands.scale, plan->largest_tile(), group_.size > 1);
    Incoming next = exchange(*plan, own, operands.k_BKLD, 1), gradient;
    KeyGradientSum own_sum = sum.key_sum(own.slots);
    sum.add(plan->tiles(group_.rank), own, own_sum);
    for (int step = 1; step < group_.size; ++step) {
      Incoming held = std::exchange(next, {});
      held.transfers.wait();
      next = exchange(*plan, own, operands.k_BKLD, step + 1);
      KeyGradientSum key_sum = sum.key_sum(held.block.slots);
      sum.add(plan->tiles(source(step)), held.block, key_sum);
      take_home(gradient, own_sum);
      gradient = exchange_gradient(*plan, key_sum.finish(), operands, step);
    }
    take_home(gradient, own_sum);
    return block_gradients(sum.finish_queries(), own_sum.finish(), operands.k_BKLD.scalar_type());
  }

 private:
  std::shared_ptr<const AttentionPlan> plan(int64_t local_length, const layout::Mask& mask) {
    return plans_.get(local_length, mask, [&] { return AttentionPlan(*layout_, local_length, group_.rank, mask); });
  }
  // Step t: from the rank t in front, to the rank t behind; each pair of ranks meets once, and no rank is asked by two at a time.
  int source(int step) const { return (group_.rank - step + group_.size) % group_.size; }
  int reader(int step) const { return (group_.rank + step) % group_.size; }

  Incoming exchange(const AttentionPlan& plan, const KeyBlock& own, const at::Tensor& k_BKLD, int step) const {
    if (step >= group_.size) return {};
    const KeyBlock outgoing = own.part(plan.reads(reader(step), group_.rank));
    KeyBlock incoming = KeyBlock::empty(k_BKLD, plan.reads(group_.rank, source(step)), k_BKLD.scalar_type());
    Transfers transfers(group_, {{outgoing.k_BMKD.contiguous(), reader(step), kKeys}, {outgoing.v_BMKD.contiguous(), reader(step), kValues}},
                        {{incoming.k_BMKD, source(step), kKeys}, {incoming.v_BMKD, source(step), kValues}});
    return {std::move(incoming), std::move(transfers)};
  }

  Incoming exchange_gradient(const AttentionPlan& plan, const KeyBlock& outgoing, const AttentionOperands& operands, int step) const {
    KeyBlock incoming = KeyBlock::empty(operands.k_BKLD, plan.reads(reader(step), group_.rank), accumulation_type(operands.q_BHLD));
    Transfers transfers(group_,
                        {{outgoing.k_BMKD.contiguous(), source(step), kKeyGradients}, {outgoing.v_BMKD.contiguous(), source(step), kValueGradients}},
                        {{incoming.k_BMKD, reader(step), kKeyGradients}, {incoming.v_BMKD, reader(step), kValueGradients}});
    return {std::move(incoming), std::move(transfers)};
  }

  static void take_home(Incoming& gradient, KeyGradientSum& own_sum) {
    gradient.transfers.wait();
    if (gradient.block.k_BMKD.defined()) own_sum.add(gradient.block);
    gradient = {};
  }

  std::shared_ptr<const layout::Layout> layout_;
  ProcessGroup group_;
  PlanCache<AttentionPlan> plans_;
};

}  // namespace

c10::intrusive_ptr<AttentionMethod> make_ranged_method(const AttentionSetup& setup) { return c10::make_intrusive<RangedAttention>(setup); }

}  // namespace ringwright::worker

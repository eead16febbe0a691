#include "daemon/worker/context_parallel/all_gather_attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "daemon/worker/context_parallel/attention_tiles.h"
#include "daemon/worker/context_parallel/plan_cache.h"
#include "daemon/worker/parallel/collectives.h"

namespace ringwright::worker {
namespace {

struct GatherPlan {
  std::vector<std::vector<layout::Run>> runs;  // by rank
  std::vector<AttentionTile> tiles;            // over all keys in global order
  TileSize largest_tile;
  int64_t length = 0;   // of the padded sequence
  bool gathers = true;  // false: this rank has all tokens, and the tiles are over its own order
};

class AllGatherAttention final : public AttentionMethod {
 public:
  explicit AllGatherAttention(const AttentionSetup& setup) : layout_(setup.layout), group_(setup.group) {}

  AttentionForward forward(const AttentionOperands& operands, const layout::Mask& mask) override {
    const std::shared_ptr<const GatherPlan> plan = this->plan(operands.q_BHLD.size(2), mask);
    AttentionSum sum(operands.q_BHLD, operands.scale);
    sum.add(plan->tiles, gather_keys(*plan, operands));
    return {sum.finish(), {}};
  }

  // The keys are gathered again: kept, they would cost every layer the memory of the whole sequence.
  AttentionBlockGradients backward(const at::Tensor& grad_out_BHLD, const AttentionOperands& operands, AttentionForward& saved,
                                   const layout::Mask& mask) override {
    const std::shared_ptr<const GatherPlan> plan = this->plan(operands.q_BHLD.size(2), mask);
    AttentionGradientSum sum(grad_out_BHLD, operands.q_BHLD, operands.k_BKLD, saved.merged, operands.scale, plan->largest_tile, group_.size > 1);
    KeyBlock keys = gather_keys(*plan, operands);
    KeyGradientSum key_sum = sum.key_sum(keys.slots);
    sum.add(plan->tiles, keys, key_sum);
    keys = {};
    KeyBlock gradient = key_sum.finish();
    gradient.k_BMKD = scatter_sum(*plan, gradient.k_BMKD);
    gradient.v_BMKD = scatter_sum(*plan, gradient.v_BMKD);
    return block_gradients(sum.finish_queries(), gradient, operands.k_BKLD.scalar_type());
  }

 private:
  std::shared_ptr<const GatherPlan> plan(int64_t local_length, const layout::Mask& mask) {
    return plans_.get(local_length, mask, [&] {
      GatherPlan plan;
      plan.length = padded_length(*layout_, local_length);
      for (int rank = 0; rank < group_.size; ++rank) plan.runs.push_back(layout_->runs(plan.length, rank));
      plan.gathers = plan.length != local_length;
      const std::vector<layout::Run>& own = plan.runs[static_cast<size_t>(group_.rank)];
      const std::vector<layout::Run> whole = {{0, 0, 0, plan.length, 0}};
      plan.tiles = plan_tiles(own, plan.gathers ? whole : own, mask, plan.length);
      plan.largest_tile.include(plan.tiles);
      return plan;
    });
  }

  KeyBlock gather_keys(const GatherPlan& plan, const AttentionOperands& operands) const {
    return {gather(plan, operands.k_BKLD.transpose(1, 2)), gather(plan, operands.v_BKLD.transpose(1, 2)), SlotRanges({{0, plan.length}})};
  }

  // All ranks' slots in global order.
  at::Tensor gather(const GatherPlan& plan, const at::Tensor& x_BLKD) const {
    if (!plan.gathers) return x_BLKD;
    const std::vector<at::Tensor> parts = all_gather(x_BLKD, group_);
    at::Tensor whole_BPKD = at::empty({x_BLKD.size(0), plan.length, x_BLKD.size(2), x_BLKD.size(3)}, x_BLKD.options());
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      for (const layout::Run& run : plan.runs[rank]) {
        whole_BPKD.narrow(1, run.global_start, run.length).copy_(parts[rank].narrow(1, run.local_start, run.length));
      }
    }
    return whole_BPKD;
  }

  // Every rank's gradient of this rank's slots, added up in rank order.
  at::Tensor scatter_sum(const GatherPlan& plan, const at::Tensor& gradient_BPKD) const {
    const int64_t local_length = gradient_BPKD.size(1) / group_.size;
    if (!plan.gathers) return gradient_BPKD;
    std::vector<at::Tensor> parts;
    for (const std::vector<layout::Run>& runs : plan.runs) {
      at::Tensor part = at::zeros({gradient_BPKD.size(0), local_length, gradient_BPKD.size(2), gradient_BPKD.size(3)}, gradient_BPKD.options());
      for (const layout::Run& run : runs) {
        part.narrow(1, run.local_start, run.length).copy_(gradient_BPKD.narrow(1, run.global_start, run.length));
      }
      parts.push_back(std::move(part));
    }
    const std::vector<at::Tensor> shares = all_to_all(parts, group_);
    at::Tensor sum = shares[0].clone();
    for (size_t rank = 1; rank < shares.size(); ++rank) sum.add_(shares[rank]);
    return sum;
  }

  std::shared_ptr<const layout::Layout> layout_;
  ProcessGroup group_;
  PlanCache<GatherPlan> plans_;
};

}  // namespace

c10::intrusive_ptr<AttentionMethod> make_all_gather_method(const AttentionSetup& setup) { return c10::make_intrusive<AllGatherAttention>(setup); }

}  // namespace ringwright::worker

#include "daemon/worker/context_parallel/whole_attention.h"

#include "daemon/worker/context_parallel/attention_tiles.h"
#include "daemon/worker/context_parallel/plan_cache.h"

namespace ringwright::worker {
namespace {

class WholeAttention final : public AttentionMethod {
 public:
  AttentionForward forward(const AttentionOperands& operands, const layout::Mask& mask) override {
    AttentionSum sum(operands.q_BHLD, operands.scale);
    sum.add(*tiles(operands, mask), KeyBlock::whole(operands.k_BKLD, operands.v_BKLD));
    return {sum.finish(), {}};
  }

  AttentionBlockGradients backward(const at::Tensor& grad_out_BHLD, const AttentionOperands& operands, AttentionForward& saved,
                                   const layout::Mask& mask) override {
    const auto tiles = this->tiles(operands, mask);
    TileSize largest_tile;
    largest_tile.include(*tiles);
    AttentionGradientSum sum(grad_out_BHLD, operands.q_BHLD, operands.k_BKLD, saved.merged, operands.scale, largest_tile, false);
    const KeyBlock keys = KeyBlock::whole(operands.k_BKLD, operands.v_BKLD);
    KeyGradientSum key_sum = sum.key_sum(keys.slots);
    sum.add(*tiles, keys, key_sum);
    return block_gradients(sum.finish_queries(), key_sum.finish(), operands.k_BKLD.scalar_type());
  }

 private:
  std::shared_ptr<const std::vector<AttentionTile>> tiles(const AttentionOperands& operands, const layout::Mask& mask) {
    const int64_t length = operands.q_BHLD.size(2);
    return plans_.get(length, mask, [&] {
      const std::vector<layout::Run> whole = {{0, 0, 0, length, 0}};
      return plan_tiles(whole, whole, mask, length);
    });
  }

  PlanCache<std::vector<AttentionTile>> plans_;
};

}  // namespace

c10::intrusive_ptr<AttentionMethod> make_whole_method() { return c10::make_intrusive<WholeAttention>(); }

}  // namespace ringwright::worker

#include "daemon/worker/context_parallel/all_to_all_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/worker/context_parallel/attention_plan.h"
#include "daemon/worker/context_parallel/attention_tiles.h"
#include "daemon/worker/context_parallel/plan_cache.h"
#include "daemon/worker/context_parallel/ring_attention.h"
#include "daemon/worker/context_parallel/whole_attention.h"
#include "daemon/worker/parallel/collectives.h"
#include "shared/layout/head_split.h"

namespace ringwright::worker {
namespace {

using layout::HeadCounts;
using layout::HeadRange;

// The tokens of the ranks that exchange heads, and what attends over them.
struct Exchange {
  at::Tensor order;              // [N] which of the tokens, rank after rank, comes first, second, ... in global order
  std::vector<at::Tensor> maps;  // by rank: where its tokens stand in that order
  c10::intrusive_ptr<AttentionMethod> method;
};

// Global positions of the tokens of neighbouring ranks, one rank after the other.
std::vector<int64_t> positions_of(const layout::Layout& layout, int64_t length, int first_rank, int count) {
  std::vector<int64_t> positions;
  for (int rank = first_rank; rank < first_rank + count; ++rank) {
    const std::vector<int64_t> own = layout.local_token_global_indices(length, rank);
    positions.insert(positions.end(), own.begin(), own.end());
  }
  return positions;
}

// Method letters as elsewhere, and N: tokens of all ranks that exchange heads, in global order.
class HeadExchangeAttention final : public AttentionMethod {
 public:
  // whole_group: heads are exchanged over the whole group; else over part of it, with a ring over the rest.
  HeadExchangeAttention(const AttentionSetup& setup, bool whole_group) : setup_(setup), whole_group_(whole_group) {}

  AttentionForward forward(const AttentionOperands& operands, const layout::Mask& mask) override {
    const HeadCounts counts = counts_of(operands);
    const std::shared_ptr<const Exchange> exchange = this->exchange(operands);
    AttentionOperands whole = to_heads(*exchange, operands, counts);
    AttentionForward inner = exchange->method->forward(whole, mask);
    AttentionForward result;
    result.merged = {to_tokens(*exchange, inner.merged.out_BHLD, query_ranges(counts)), inner.merged.lse_BHL};
    result.kept = {whole.q_BHLD, whole.k_BKLD, whole.v_BKLD, inner.merged.out_BHLD};
    result.kept.insert(result.kept.end(), inner.kept.begin(), inner.kept.end());
    return result;
  }

  AttentionBlockGradients backward(const at::Tensor& grad_out_BHLD, const AttentionOperands& operands, AttentionForward& saved,
                                   const layout::Mask& mask) override {
    const HeadCounts counts = counts_of(operands);
    const std::shared_ptr<const Exchange> exchange = this->exchange(operands);
    std::vector<at::Tensor> kept = std::exchange(saved.kept, {});
    AttentionForward inner{{{}, saved.merged.lse_BHL}, {}};
    AttentionOperands whole{{}, {}, {}, operands.scale};
    if (kept.empty()) {
      whole = to_heads(*exchange, operands, counts);
      inner.merged.out_BHLD = to_heads(*exchange, saved.merged.out_BHLD, query_ranges(counts));
    } else {
      whole = {kept[0], kept[1], kept[2], operands.scale};
      inner.merged.out_BHLD = kept[3];
      inner.kept.assign(kept.begin() + 4, kept.end());
      kept.clear();
    }
    const at::Tensor grad_out_BHND = to_heads(*exchange, grad_out_BHLD, query_ranges(counts));
    const AttentionBlockGradients gradients = exchange->method->backward(grad_out_BHND, whole, inner, mask);
    return {to_tokens(*exchange, gradients.q_BHLD, query_ranges(counts)), to_tokens(*exchange, gradients.k_BKMD, key_ranges(counts)),
            to_tokens(*exchange, gradients.v_BKMD, key_ranges(counts))};
  }

 private:
  static HeadCounts counts_of(const AttentionOperands& operands) { return {operands.q_BHLD.size(1), operands.k_BKLD.size(1)}; }

  std::vector<HeadRange> query_ranges(const HeadCounts& counts) const { return ranges(counts, layout::query_heads_of); }
  std::vector<HeadRange> key_ranges(const HeadCounts& counts) const { return ranges(counts, layout::key_heads_of); }
  std::vector<HeadRange> ranges(const HeadCounts& counts, HeadRange (*range_of)(const HeadCounts&, int, int)) const {
    std::vector<HeadRange> result;
    for (int rank = 0; rank < grid_->inner.size; ++rank) result.push_back(range_of(counts, grid_->inner.size, rank));
    return result;
  }

  // The first call makes the groups, since the grid depends on the number of heads.
  std::shared_ptr<const Exchange> exchange(const AttentionOperands& operands) {
    const int head_ranks = whole_group_ ? setup_.group.size : layout::head_ranks_of_grid(counts_of(operands), setup_.group.size);
    if (!grid_ || grid_->inner.size != head_ranks) {
      grid_ = split_group(setup_.group, head_ranks);
      exchanges_ = {};
    }
    const int64_t local_length = operands.q_BHLD.size(2);
    return exchanges_.get(local_length, {}, [&] { return make_exchange(local_length); });
  }

  Exchange make_exchange(int64_t local_length) const {
    const int count = grid_->inner.size;
    const int64_t length = padded_length(*setup_.layout, local_length);
    const at::Tensor positions = at::tensor(positions_of(*setup_.layout, length, setup_.group.rank / count * count, count), at::kLong);
    Exchange exchange;
    exchange.order = positions.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
    at::Tensor place = at::empty_like(exchange.order);
    place.scatter_(0, exchange.order, at::arange(exchange.order.numel(), at::kLong));
    exchange.maps = place.split(std::max<int64_t>(local_length, 1));
    exchange.maps.resize(static_cast<size_t>(count), place.narrow(0, 0, 0));  // an empty sequence splits into nothing
    exchange.method =
        grid_->outer.size == 1 ? make_whole_method() : make_ring_method({layout::merge_ranks(*setup_.layout, length, count), grid_->outer});
    return exchange;
  }

  AttentionOperands to_heads(const Exchange& exchange, const AttentionOperands& operands, const HeadCounts& counts) const {
    return {to_heads(exchange, operands.q_BHLD, query_ranges(counts)), to_heads(exchange, operands.k_BKLD, key_ranges(counts)),
            to_heads(exchange, operands.v_BKLD, key_ranges(counts)), operands.scale};
  }

  // All heads of this rank's tokens -> this rank's heads of all tokens, in global order.
  at::Tensor to_heads(const Exchange& exchange, const at::Tensor& x_BHLD, const std::vector<HeadRange>& ranges) const {
    const at::Tensor x_BLHD = x_BHLD.transpose(1, 2);
    std::vector<at::Tensor> parts;
    for (const HeadRange& heads : ranges) parts.push_back(x_BLHD.narrow(2, heads.start, heads.length));
    const at::Tensor by_rank = at::cat(all_to_all(parts, grid_->inner), 1);
    return by_rank.index_select(1, exchange.order.to(x_BHLD.device())).transpose(1, 2);
  }

  // The way back. Ranks that had the same head each bring a share of its gradient; shares are added up in rank order.
  at::Tensor to_tokens(const Exchange& exchange, const at::Tensor& x_BHND, const std::vector<HeadRange>& ranges) const {
    const at::Tensor x_BNHD = x_BHND.transpose(1, 2);
    std::vector<at::Tensor> parts;
    for (const at::Tensor& map : exchange.maps) parts.push_back(x_BNHD.index_select(1, map.to(x_BHND.device())));
    const std::vector<at::Tensor> shares = all_to_all(parts, grid_->inner);
    const at::ScalarType sum_type = accumulation_type(x_BHND);
    std::vector<at::Tensor> heads;
    for (size_t rank = 0; rank < shares.size(); ++rank) {
      if (rank > 0 && ranges[rank] == ranges[rank - 1]) {
        heads.back() = heads.back().to(sum_type).add(shares[rank]);
      } else {
        heads.push_back(shares[rank]);
      }
    }
    return at::cat(heads, 2).to(x_BHND.scalar_type()).transpose(1, 2);
  }

  AttentionSetup setup_;
  bool whole_group_;
  std::optional<SplitGroup> grid_;
  PlanCache<Exchange> exchanges_;
};

// On one rank, or where every rank has all tokens, there is nothing to exchange.
c10::intrusive_ptr<AttentionMethod> make_exchange_method(const AttentionSetup& setup, bool whole_group) {
  if (setup.group.size == 1 || setup.layout->replicates()) return make_whole_method();
  return c10::make_intrusive<HeadExchangeAttention>(setup, whole_group);
}

}  // namespace

c10::intrusive_ptr<AttentionMethod> make_all_to_all_method(const AttentionSetup& setup) { return make_exchange_method(setup, true); }
c10::intrusive_ptr<AttentionMethod> make_all_to_all_ring_method(const AttentionSetup& setup) { return make_exchange_method(setup, false); }

}  // namespace ringwright::worker

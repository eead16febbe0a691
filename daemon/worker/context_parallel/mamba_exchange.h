// Mamba under context parallelism: attention keeps tokens cut by sequence, the scan needs every token of some heads (context-parallel contract,
// section 7). All of it is differentiable.
//
// Shape letters: B rows, L local tokens, P = cp*L tokens of the whole sequence, C channels.
#pragma once

#include <memory>
#include <optional>

#include "daemon/worker/parallel/process_groups.h"
#include "shared/layout/mamba.h"

namespace ringwright::worker {

// [B,L,C] or [L,C] -> [B,P,C/cp]: this rank's block of channels of every token, the ranks' tokens behind each other in each row. Backward is the
// other exchange. Throws Error RW-SHARD-001 when cp does not divide C.
at::Tensor context_to_hidden_parallel(const at::Tensor& x_BLC, const ProcessGroup& group);
// The inverse: [B,P,C/cp] -> [B,L,C]. Throws Error RW-SHARD-001 when cp does not divide P.
at::Tensor hidden_to_context_parallel(const at::Tensor& x_BPC, const ProcessGroup& group);

// This rank's slices of full parameters, along their first axis; gradients land in the full tensors, 0 outside the slice. Summed over the ranks
// they are the full gradient. Throws Error RW-SHARD-001 for a parameter of another size.
class MambaParameters {
 public:
  // Errors: those of layout::mamba_slices.
  MambaParameters(const layout::MambaShape& shape, int cp, int rank);

  at::Tensor per_head(const at::Tensor& parameter_H) const;   // dt_bias, A_log, D
  at::Tensor convolution(const at::Tensor& parameter) const;  // weight [C,1,K] -> [C_local,K], bias [C] -> [C_local]; undefined stays undefined

 private:
  layout::MambaShape shape_;
  layout::MambaSlices slices_;
};

// Channels of B or C [..., groups*state], each group's as often in a row as ranks share it.
at::Tensor repeat_groups(const at::Tensor& state, const layout::MambaShape& shape, int cp);

class MambaExchange {
 public:
  // `layout`: how the tokens are cut, with the documents of a packed stream. Throws Error RW-SHARD-004 when layout and group differ in size,
  // RW-MAMBA-001 for heads or groups that do not spread over the group.
  MambaExchange(const layout::MambaShape& shape, std::shared_ptr<const layout::Layout> layout, const ProcessGroup& group);

  // Projected channels [z|x|B|C|dt] of the local tokens, [B,L,C] or a stream [L,C], -> the same sections of this rank's heads for all tokens in
  // global order, [B,P,...]. Throws Error RW-MAMBA-002 for a layout whose tokens do not come into global order.
  at::Tensor pre(const at::Tensor& projected_BLC) const;
  // What the scan gives, [B,P,inner/cp] in global order, -> [B,L,inner] of the local tokens.
  at::Tensor post(const at::Tensor& scanned_BPD) const;

 private:
  at::Tensor to_global_order(const at::Tensor& x_BPC) const;
  at::Tensor to_rank_order(const at::Tensor& x_BPC) const;

  layout::MambaShape shape_;
  std::shared_ptr<const layout::Layout> layout_;
  ProcessGroup group_;
};

// Documents as the scan kernel wants them.
struct MambaDocuments {
  at::Tensor sequence_index;           // given: used as it is
  at::Tensor offsets, padded_offsets;  // cumulative, global; padded ones win
};

// int32 [1, P] for a stream of `local_length` tokens a rank, or zeros [B, P] for rows with offsets; undefined without offsets. A document's first
// token has its number; empty documents skip one, positions behind the last have the count.
at::Tensor mamba_sequence_index(const MambaDocuments& documents, std::optional<int64_t> rows, int64_t local_length, int cp);

}  // namespace ringwright::worker

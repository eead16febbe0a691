// How attention is spread over the CP group: a table of methods, each of which can work over any layout and any mask, or says why not.
#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/worker/context_parallel/attention.h"
#include "daemon/worker/kernels/attention_block.h"
#include "daemon/worker/parallel/process_groups.h"
#include "shared/layout/layout.h"

namespace ringwright::worker {

// The ranks that share a sequence. Every rank of the group must make each call, and its backward, in the same order.
struct AttentionSetup {
  std::shared_ptr<const layout::Layout> layout;
  ProcessGroup group;
};

struct AttentionOperands {
  at::Tensor q_BHLD, k_BKLD, v_BKLD;
  double scale;
};

// What the forward pass leaves for the backward pass.
struct AttentionForward {
  AttentionBlock merged;         // out in the type of q
  std::vector<at::Tensor> kept;  // whatever else the method wants to see again
};

// One method over one layout and group. Both calls may communicate; both may throw Error RW-GROUP-004 (a lost peer).
class AttentionMethod : public torch::CustomClassHolder {
 public:
  virtual AttentionForward forward(const AttentionOperands& operands, const layout::Mask& mask) = 0;
  // May use up saved.kept, so that its memory is free early; a second backward pass of the same graph then comes with kept empty, on every rank.
  virtual AttentionBlockGradients backward(const at::Tensor& grad_out_BHLD, const AttentionOperands& operands, AttentionForward& saved,
                                           const layout::Mask& mask) = 0;
};

// What a call would be: for refusals before anything runs.
struct AttentionRequest {
  const layout::Layout& layout;
  const layout::Mask& mask;
  int64_t heads = 1, kv_heads = 1;
};

// Why the method (one of layout::methods()) cannot honour the request; "" where it can. Every method takes every mask over every layout.
std::string attention_refusal(std::string_view method, const AttentionRequest& request);

// Attention over the whole sequence for tokens that the layout spread over the group. Cheap: a layout that belongs to one batch may be given to a
// new function with each batch; plans are made at the first call with a mask and kept. Throws Error RW-CP-001 for an unknown method, RW-CP-003
// when layout and group differ in size. The function throws what check_attention throws, before it communicates, and RW-GROUP-004.
AttentionFunction make_attention(std::string_view method, std::shared_ptr<const layout::Layout> layout, const ProcessGroup& group);

// Throws Error RW-CP-001 (unknown method), RW-CP-002 (the method cannot honour the request: nothing is ever dropped), RW-MASK-00x (no mask at all).
// `length`: of the padded sequence.
void check_attention(std::string_view method, const AttentionRequest& request, int64_t length);

// A sequence that is sharded is right only when every attention block sees all of it. Throws Error RW-CP-004 when another number of blocks than
// `wanted` (the family's) hold the CP group of `cp_size` ranks; to be called before the first step.
void check_attention_blocks(int64_t holding, int64_t wanted, int cp_size);

// A differentiable function of a method. cp_size: see AttentionFunction.
AttentionFunction differentiable(c10::intrusive_ptr<AttentionMethod> method, int cp_size);

}  // namespace ringwright::worker

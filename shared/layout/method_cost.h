// What each method of attention costs, and which one `auto` takes: a model of a training step's attention in one layer, forward and backward, on the
// slowest rank. Pure arithmetic, so that a run and the command line show the same choice for the same reason.
//
//   compute = visible pairs * 4 * head size * heads * (1 forward + 2.5 backward) / flops_per_s   (arXiv 2307.08691, section 2)
//   moved   = bytes that come in / bytes_per_s, forward and backward: exact (traffic.h)
//   handled = bytes of merging, reordering and adding up / copy_bytes_per_s
//   fixed   = messages * message_s + operator calls * call_s
//
// | method | pairs | handled beside it |
// | --- | --- | --- |
// | ring | the rank's | partial outputs and gradients of keys, cp - 1 times |
// | ranged | the rank's | the keys that it reads and their gradient |
// | all_gather | the rank's | the whole sequence's keys and their gradient |
// | all_to_all | an even share | what comes in, put into global order and back |
// | all_to_all+ring | an even share of its run's | both, over parts of the ranks |
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/layout/head_split.h"
#include "shared/layout/layout.h"
#include "shared/layout/mask_area.h"

namespace ringwright::layout {

// Of one rank. The defaults are estimates for one core a rank and the shared-memory transport; the bench row `methods` shows how near to the
// fastest method the choice comes.
struct AttentionRates {
  double flops_per_s = 6e10;
  double bytes_per_s = 2.5e9;
  double copy_bytes_per_s = 5e9;
  double message_s = 40e-6;
  double call_s = 60e-6;
};

// Attention in one layer.
struct AttentionLoad {
  const Layout& layout;
  const MaskArea& area;       // over the padded sequence
  int64_t padded_length = 0;  // tokens of the whole sequence
  int64_t rows = 1;
  HeadCounts heads = {};
  int64_t head_size = 64;
  int64_t value_bytes = 4;  // of one number of the queries, keys and values
};

struct MethodCost {
  std::string_view method;
  std::string refusal = {};  // why the heads cannot be dealt so; the rest is 0 then
  int64_t bytes = 0;         // that come in at the slowest rank
  double compute_s = 0, moved_s = 0, handled_s = 0, fixed_s = 0;

  double total_s() const { return compute_s + moved_s + handled_s + fixed_s; }
};

// In the order of preference: of two that cost the same the first is taken.
std::vector<MethodCost> method_costs(const AttentionLoad& load, const AttentionRates& rates = {});

struct MethodChoice {
  std::string_view method;
  std::string reason;  // one line for people
};

// The cheapest that is not refused. Ring can always be had. With one rank there is nothing to choose: ring.
MethodChoice choose_method(const AttentionLoad& load, const AttentionRates& rates = {});

}  // namespace ringwright::layout

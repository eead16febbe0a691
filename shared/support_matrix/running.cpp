#include "shared/support_matrix/running.h"

#include <fmt/format.h>

#include <cmath>

namespace ringwright::support_matrix {

const std::vector<RunningRow>& running_rows() {
  static const std::vector<RunningRow> kRows = {
      {"RW-GUARD-501", "throughput", "more operations a second than the hardware has",
       [](const RunningFacts& f) { return f.flops_per_s && f.hardware_flops_per_s && *f.flops_per_s > *f.hardware_flops_per_s; },
       [](const RunningFacts& f) {
         return fmt::format(
             "step {} would have taken {:.3g} operations a second, and the hardware can {:.3g}: tokens are counted that were not computed", f.step,
             *f.flops_per_s, *f.hardware_flops_per_s);
       },
       "tokens are counted that were not computed", "look at the token count, and at steps that were skipped"},
      {"RW-GUARD-502", "generation and training",
       "the mean gap between their log-probabilities is above 0.05, by train/token_mult_prob_error of a run that records it: this version has no "
       "rollouts of its own, an imported run of NeMo RL's may have some",
       [](const RunningFacts& f) { return f.logprob_gap && f.logprob_gap_max && *f.logprob_gap > *f.logprob_gap_max; },
       [](const RunningFacts& f) {
         return fmt::format(
             "at step {} log-probabilities of generation and of training differ by {:.3g} on average, more than {:.3g}: the two do not "
             "compute the same model",
             f.step, *f.logprob_gap, *f.logprob_gap_max);
       },
       "the two do not compute the same model", "compare both on one batch; look at precision, templates and stale weights"},
      {"RW-GUARD-503", "rank without targets", "all slots of a rank's step are masked tokens or padding",
       [](const RunningFacts& f) { return f.rank_without_targets.has_value(); },
       [](const RunningFacts& f) {
         return fmt::format(
             "none of the {} slots of rank {} in step {} is trained on (masked tokens, or the padding of short sequences): it worked for "
             "nothing, and its own loss is 0",
             f.slots.value_or(0), *f.rank_without_targets, f.step);
       },
       "it worked for nothing, and its own loss is 0",
       "look at the masks of the data (prompts that fill the window, rows that are cut before the answer) and, where sequences are short for so "
       "many ranks, at ringwright.cp.chunk and policy.dtensor_cfg.context_parallel_size"},
  };
  return kRows;
}

std::vector<RunningFinding> check_running(const RunningFacts& facts) {
  std::vector<RunningFinding> findings;
  for (const RunningRow& row : running_rows())
    if (row.holds(facts)) findings.push_back({std::string(row.code), std::string(row.scope), row.says(facts), std::string(row.fix)});
  return findings;
}

std::vector<RunningFinding> check_recorded(std::string_view metric, int64_t step, double value) {
  if (metric != kMultProbError || !(value >= 1)) return {};
  return check_running({.step = step, .logprob_gap = std::log(value), .logprob_gap_max = kLogprobGapMax});
}

}  // namespace ringwright::support_matrix

// Level 3: what only a run can show. Rows with conditions over facts that whoever has them hands in: the worker, the daemon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::support_matrix {

// Of one step. What nobody looked at is absent, and its rows stay silent.
struct RunningFacts {
  int64_t step = 0;
  std::optional<double> flops_per_s = {}, hardware_flops_per_s = {};  // of all ranks: what the tokens took, and what the hardware can
  std::optional<double> logprob_gap = {}, logprob_gap_max = {};       // mean |generation - training| over trained tokens
  std::optional<int64_t> rank_without_targets = {}, slots = {};       // a rank none of whose slots of the step is trained on; how many it had
};

struct RunningRow {
  std::string_view code, scope, when;
  bool (*holds)(const RunningFacts&);
  std::string (*says)(const RunningFacts&);
  std::string_view reason, fix;  // as the documentation prints them
};

const std::vector<RunningRow>& running_rows();

// The mean of exp(|generation - training|) over the trained tokens of a step, as NeMo RL's runs record it: no less than exp of the mean gap.
inline constexpr std::string_view kMultProbError = "train/token_mult_prob_error";
inline constexpr double kLogprobGapMax = 0.05;

struct RunningFinding {
  std::string code, scope, reason, fix;
};
std::vector<RunningFinding> check_running(const RunningFacts& facts);
// What one point of a recorded metric shows; for a name that no row is about, nothing.
std::vector<RunningFinding> check_recorded(std::string_view metric, int64_t step, double value);

}  // namespace ringwright::support_matrix

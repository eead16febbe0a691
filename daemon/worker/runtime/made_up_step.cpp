#include "daemon/worker/runtime/made_up_step.h"

#include <fmt/format.h>

#include <string>

namespace ringwright::worker {
namespace {

constexpr int64_t kStepNs = 1'000'000;
constexpr int kSlowEvery = 4;
constexpr double kOthersShare = 0.75;  // of the slow rank's time

struct Phase {
  std::string_view name;
  double share;  // of the step
};
constexpr Phase kPhases[] = {{"rollout", 0.3}, {"teacher forward", 0.2}, {"align", 0.05}, {"forward", 0.2}, {"backward", 0.25}};

nlohmann::json pair_of(std::vector<std::string> student, std::vector<std::string> teacher, bool correct) {
  return {{"student", std::move(student)}, {"teacher", std::move(teacher)}, {"correct", correct}};
}

}  // namespace

std::vector<MadeUpSpan> made_up_spans(int rank, int64_t step, int64_t begin_ns) {
  const bool slow = (step + rank) % kSlowEvery == 0;
  std::vector<MadeUpSpan> spans;
  for (const Phase& phase : kPhases) {
    const double whole_ns = phase.share * kStepNs;
    spans.push_back({phase.name, begin_ns, begin_ns + static_cast<int64_t>(slow ? whole_ns : whole_ns * kOthersShare)});
    begin_ns += static_cast<int64_t>(whole_ns);
  }
  return spans;
}

std::vector<nlohmann::json> made_up_samples(int rank, int64_t step) {
  const std::string prompt = fmt::format("What is {} and {}?", step, rank), reply = std::to_string(step + rank);
  const std::string digits = std::to_string(step);
  nlohmann::json rollout = {
      {"kind", "rollout"}, {"prompt", prompt}, {"reply", reply}, {"reward", step % 3 == 0 ? 0.0 : 1.0}, {"length", reply.size()}};
  for (const char digit : reply) {
    rollout["tokens"].push_back(std::string(1, digit));
    rollout["token_losses"].push_back((digit - '0') / 4.0);
  }
  return {std::move(rollout),
          {{"kind", "teacher"}, {"prompt", prompt}, {"reply", reply}, {"kl", 1.0 / static_cast<double>(step + 1)}},
          {{"kind", "alignment"},
           {"prompt", prompt},
           {"pairs",
            {pair_of({"What"}, {"What"}, true), pair_of({" is "}, {" is", " "}, true), pair_of({digits}, {digits}, true),
             pair_of({" and", " "}, {" and "}, true), pair_of({std::to_string(rank), "?"}, {"<unk>"}, false)}},
           {"correct_share", 0.8}}};
}

}  // namespace ringwright::worker

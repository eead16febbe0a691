// What moved between the two Automodel targets.
#pragma once

#include <string_view>
#include <vector>

namespace ringwright::support_matrix {

struct Move {
  std::string_view area;
  std::string_view before, after;  // automodel-0.4, automodel-0.6
  std::string_view keys;           // of a recipe that it touches, and what to do with them
  std::string_view row;            // that flags them in a check; "": no recipe key moved
};
const std::vector<Move>& moves();

// What a set-up built for the first does by itself and the second makes needless.
struct Workaround {
  std::string_view what, why;
};
const std::vector<Workaround>& needless_workarounds();

// Commits that NeMo RL's link to Automodel records for the two targets: a tag or branch is never asked.
inline constexpr std::string_view kAutomodelCommit04 = "24b47e85", kAutomodelCommit06 = "89c248a1";

}  // namespace ringwright::support_matrix

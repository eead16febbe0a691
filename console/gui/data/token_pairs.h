// A text as a student's tokens and a teacher's, cut into pairs of runs that stand for the same characters.
//
// A sample of the alignment has them in its field `pairs`: a list of {"student": [tokens], "teacher": [tokens], "correct": true or false}.
#pragma once

#include <string>
#include <vector>

#include "shared/history/records.h"

namespace ringwright::gui {

enum class PairKind { one_to_one, several, not_the_same };

struct TokenPair {
  std::vector<std::string> student, teacher;  // as they are shown: a space is a dot, a line end "\n"
  PairKind kind = PairKind::one_to_one;
};
// Empty where the sample has none; what is no pair is left out.
std::vector<TokenPair> token_pairs(const history::SampleRecord& sample);

// "12 pairs: 9 one to one, 2 of several tokens, 1 not the same"
std::string pairs_sentence(const std::vector<TokenPair>& pairs);

}  // namespace ringwright::gui

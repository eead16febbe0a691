// A text in the tokens of student and teacher, one above the other, pair by pair.
#pragma once

#include <string>
#include <vector>

#include "console/gui/data/token_pairs.h"
#include "console/gui/views/sample_list.h"

namespace ringwright::gui {

class AlignedTokens : public SampleDetails {
 public:
  void read(const history::SampleRecord& sample) override;
  void draw() const override;

 private:
  std::vector<TokenPair> pairs_;
  std::string sentence_;
};

}  // namespace ringwright::gui

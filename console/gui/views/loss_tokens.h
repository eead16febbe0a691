// A sample's tokens, tinted by their loss, or as ids.
#pragma once

#include "console/gui/data/sample_tokens.h"

namespace ringwright::gui {

enum class TokenForm { texts, ids };
// With a legend where any token has a loss. In lines of the width that there is.
void draw_tokens(const std::vector<SampleToken>& tokens, TokenForm form);

}  // namespace ringwright::gui

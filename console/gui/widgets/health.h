// How long ago something gave a sign of life, and how that looks: the same for ranks and devices.
#pragma once

#include <string>

#include "console/gui/services/icons.h"
#include "console/gui/services/style.h"

namespace ringwright::gui {

enum class Health { live, stale, lost, over };

// 3 s of silence are stale, 15 s lost: signs of life come every second.
Health health_at(double age_s);
Token token_of(Health health);
const Icon& icon_of(Health health);
// "0.4 s", "12 s", "lost 41 s".
std::string age_text(double age_s, Health health);
// The ink of such a text.
Token age_ink(Health health);

}  // namespace ringwright::gui

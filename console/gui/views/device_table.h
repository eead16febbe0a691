// The node's devices, in the Cluster view.
#pragma once

#include <string>

#include "console/gui/services/context.h"

namespace ringwright::gui {

// "4 x NVIDIA H100 80GB HBM3, driver 580.65.06; 1 needs a look", "Devices: no reading. NVML does not start: ..."; "" where there is no daemon to say
// it.
std::string devices_line(const Context& context);

// That line and, where there are devices, a table of them that takes at most `share` of the room.
void draw_devices(Context& context, float share);

}  // namespace ringwright::gui

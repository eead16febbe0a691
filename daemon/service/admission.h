// May this run start? The same rows that `ringwright check` shows.
#pragma once

#include "daemon/service/launch_request.h"

namespace ringwright::service {

// Throws Error (exit code 3) with the first guard that stops this engine; exit code 2 for a recipe whose values have the wrong kind. Files are not
// looked at: the client has done so, and the workers will. A talk-only run has no recipe and is admitted.
void admit(const LaunchRequest& request);

}  // namespace ringwright::service

// Who asks the daemon for something, as the history keeps it.
#pragma once

#include <string>

namespace ringwright::wire {

// "user@node, PROGRAM".
std::string requester(const std::string& program);

}  // namespace ringwright::wire

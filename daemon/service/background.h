// Becoming a background process, and telling whoever waits that the daemon is ready.
#pragma once

#include <string>

#include "shared/base/error.h"

namespace ringwright::service {

// Forks twice and leaves the terminal's session. The first process waits until the daemon says that it is ready, prints the error if there is one,
// and exits with 0 or the error's code; only the daemon returns from the constructor.
class Background {
 public:
  Background();
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  void ready();
  void failed(const ErrorParts& error);

 private:
  int pipe_ = -1;
};

// The service manager's protocol: one datagram to $NOTIFY_SOCKET, if it is set. `state`: "READY=1", "STOPPING=1".
void notify_service_manager(const std::string& state);

}  // namespace ringwright::service

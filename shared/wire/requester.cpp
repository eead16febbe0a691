#include "shared/wire/requester.h"

#include <pwd.h>
#include <unistd.h>

#include "shared/base/host.h"

namespace ringwright::wire {

std::string requester(const std::string& program) {
  const passwd* const user = ::getpwuid(::getuid());
  return (user ? std::string(user->pw_name) : std::to_string(::getuid())) + "@" + host::node_name() + ", " + program;
}

}  // namespace ringwright::wire

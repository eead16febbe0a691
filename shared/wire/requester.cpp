#include "shared/wire/requester.h"

#include <pwd.h>
#include <unistd.h>

namespace ringwright::wire {

std::string requester(const std::string& program) {
  const passwd* const user = ::getpwuid(::getuid());
  char node[256] = {};
  ::gethostname(node, sizeof node - 1);
  return (user ? std::string(user->pw_name) : std::to_string(::getuid())) + "@" + node + ", " + program;
}

}  // namespace ringwright::wire

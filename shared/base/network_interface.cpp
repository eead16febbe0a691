#include "shared/base/network_interface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <set>

#include "shared/base/error.h"

namespace ringwright::net {

std::vector<std::string> interface_names() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::set<std::string> names;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool has_address = entry->ifa_addr != nullptr && (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6);
    if (has_address && (entry->ifa_flags & IFF_UP) != 0) {
      names.insert(entry->ifa_name);
    }
  }
  return {names.begin(), names.end()};
}

void check_network_interface(const std::string& name) {
  const std::vector<std::string> known = interface_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return;
  }
  throw Error({.code = "RW-GROUP-001",
               .what = fmt::format("\"{}\" is not the name of a network interface of this machine", name),
               .where = "network interface of the process groups",
               .expected = fmt::format("one existing interface name (no list, no exclusion, no address): {}", fmt::join(known, ", ")),
               .action = "name one of these interfaces; \"lo\" for a run on a single node",
               .exit_code = ExitCode::refused});
}

}  // namespace ringwright::net

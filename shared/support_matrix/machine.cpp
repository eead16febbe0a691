// What this machine would tell other nodes of itself (known trouble T42).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "shared/base/network_interface.h"
#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {
namespace {

constexpr const char* kVariable = "GLOO_SOCKET_IFNAME";

// The address that the host's name stands for here, as text; "" where it stands for none.
std::string address_of(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return "";
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(list->ai_addr, list->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return "";
  return text.data();
}

}  // namespace

Machine this_machine(bool looks_up_address) {
  Machine machine;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) machine.host = name.data();
  if (looks_up_address) machine.host_address = address_of(machine.host);
  machine.loopback = machine.host_address.starts_with("127.") || machine.host_address == "::1";
  machine.interfaces = net::interface_names();
  if (const char* value = std::getenv(kVariable)) machine.gloo_interface = value;
  return machine;
}

void ask_machine(const recipe::Recipe& recipe, CheckOptions& options) {
  const nlohmann::json resolved = recipe.resolved;
  if (!options.machine && recipe::Typed(resolved).number_or("cluster.num_nodes", 1) > 1) options.machine = this_machine();
}

void read_machine(const std::optional<Machine>& machine, Facts& facts) {
  const std::string key = fmt::format("policy.dtensor_cfg.env_vars.{}", kVariable);
  facts.interface = facts.text(key);
  facts.interface_key = facts.interface.empty() ? kVariable : key;
  const char* environment = std::getenv(kVariable);
  if (facts.nodes == 1 && facts.interface.empty() && !machine && (!environment || !*environment)) return;  // nothing to look at
  facts.machine = machine ? *machine : this_machine(facts.nodes > 1);
  if (facts.interface.empty()) facts.interface = facts.machine.gloo_interface;
  const auto& known = facts.machine.interfaces;
  if (!facts.interface.empty() && std::find(known.begin(), known.end(), facts.interface) == known.end())
    facts.interface_fault = fmt::format("'{}' is not the name of a network interface of this machine", facts.interface);
}

}  // namespace ringwright::support_matrix

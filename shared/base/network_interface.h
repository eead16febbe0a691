// The network interface that the ranks of a run talk over. No tensors here.
#pragma once

#include <string>
#include <vector>

namespace ringwright::net {

// Names of this machine's interfaces that are up and have an IPv4 or IPv6 address, sorted.
std::vector<std::string> interface_names();

// Gloo takes exactly one existing interface name: no list, no exclusion ("^lo"), no address. Throws Error RW-GROUP-001 (exit code 3)
// that lists the interfaces of this machine.
void check_network_interface(const std::string& name);

}  // namespace ringwright::net

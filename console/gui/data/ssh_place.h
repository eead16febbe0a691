// Where a daemon of another node is reached: ssh://[user@]host[:port][/folder of its sockets].
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringwright::gui {

struct SshPlace {
  std::string user;              // "": whom ssh takes by itself
  std::string host;              // a name, an address, or a Host of ~/.ssh/config
  int port = 0;                  // 0: what ssh takes by itself
  std::filesystem::path folder;  // of the daemon's sockets there; empty: it is asked for

  // "user@host", or "host".
  std::string login() const;
  // "ssh://user@host:port".
  std::string text() const;
  // What follows `ssh` and its options: "-p", "22", "--", "user@host".
  std::vector<std::string> destination() const;
  // "ssh -p 22 user@host", for messages.
  std::string command() const;
};

// Throws Error RW-GUI-004 (exit code 2) for what is no such address, or holds what ssh would take for something else.
SshPlace ssh_place(const std::string& address);

// Throws Error RW-SSH-008 for a path that ssh would not take as it is in a forwarding.
void require_plain_path(const std::filesystem::path& path);

}  // namespace ringwright::gui

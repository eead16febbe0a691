// The sockets of a daemon of another node, forwarded by `ssh` into a folder of our own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "console/gui/data/ssh_place.h"
#include "console/gui/data/ssh_process.h"
#include "shared/wire/control.h"

namespace ringwright::gui {

class SshTunnel {
 public:
  // Makes the folder, and removes those that consoles have left which were killed; nothing is connected yet. Throws Error RW-SSH-007 or RW-SSH-008
  // where it cannot be.
  explicit SshTunnel(SshPlace place);
  // Ends ssh, and removes the folder.
  ~SshTunnel();

  // Asks the node where its daemon's sockets are, unless that is known, and forwards them; once more after ssh has ended. False when `stop` was asked
  // for. Throws Error RW-SSH-001 (no ssh), 002 (the node is not reached, in ssh's own words), 003 (no ringwright there), 004 (no daemon there), 005
  // (it takes too long), all with exit code 4.
  bool open(const std::stop_token& stop);
  // Whether ssh still runs.
  bool stands() { return process_ && process_->runs(); }
  void close();
  // RW-SSH-006: that it has ended, and ssh's own words.
  Error ended() const;

  wire::Endpoints endpoints() const { return wire::endpoints_in(folder_); }
  const SshPlace& place() const { return place_; }
  const std::filesystem::path& folder() const { return folder_; }
  pid_t pid() const { return process_ ? process_->pid() : -1; }

 private:
  // Until ssh has ended, or `until` holds. False when `stop` was asked for.
  template <class Until>
  bool wait(const std::stop_token& stop, SshProcess& process, Until until) const;
  bool ask_for_folder(const std::stop_token& stop);
  Error refused(const SshProcess& process) const;

  const SshPlace place_;
  std::filesystem::path folder_, remote_folder_;
  int folder_fd_ = -1;  // that claims the folder
  std::unique_ptr<SshProcess> process_;
};

}  // namespace ringwright::gui

// One `ssh` that runs beside this program and ends with it. It has no input and a process group of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ringwright::gui {

class SshProcess {
 public:
  // The program is $RINGWRIGHT_SSH, else `ssh` by PATH. Throws Error RW-SSH-001 (exit code 4) where there is none, or it does not start.
  explicit SshProcess(std::vector<std::string> arguments);
  // Asks it to end, and kills it where that takes more than a second, with all that is left of its process group.
  ~SshProcess();
  SshProcess(const SshProcess&) = delete;
  SshProcess& operator=(const SshProcess&) = delete;

  // Takes in what it has written and whether it has ended.
  bool runs();
  // Once it has ended: as a shell has it.
  int exit_code() const { return exit_code_; }
  const std::string& out() const { return out_; }
  // The last line that it complained with; "" when it was silent.
  std::string complaint() const;
  pid_t pid() const { return pid_; }

 private:
  void read_streams();
  bool look_whether_ended();

  pid_t pid_ = -1;
  int out_fd_ = -1, err_fd_ = -1;
  std::string out_, err_;
  bool ended_ = false;
  int exit_code_ = -1;
};

}  // namespace ringwright::gui

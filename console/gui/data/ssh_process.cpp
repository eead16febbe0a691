#include "console/gui/data/ssh_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "shared/base/error.h"
#include "shared/base/pipe.h"
#include "shared/base/printable.h"

namespace ringwright::gui {
namespace {

constexpr size_t kOutBytesMax = size_t{1} << 20, kErrBytesMax = 4096;
constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kLook = std::chrono::milliseconds(5);
constexpr int kDoesNotStart = 127;

Error no_program(const std::string& program, const std::string& why) {
  return Error({"RW-SSH-001", "'" + program + "' " + why, "--connect", "the program `ssh`",
                "install OpenSSH's client, or name another in RINGWRIGHT_SSH", ExitCode::unreachable});
}

std::string find_program() {
  const char* const given = std::getenv("RINGWRIGHT_SSH");
  const std::string name = given && *given ? given : "ssh";
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) != 0) throw no_program(name, "cannot be run");
    return name;
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + name; !folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  throw no_program(name, "is not in PATH");
}

// In the child, between fork and exec: nothing but system calls.
[[noreturn]] void become(char* const* words, const Pipe& out, const Pipe& err, int input, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever ends the console, or the thread that this runs on, ends the tunnel
  if (::getppid() != parent) ::_exit(kDoesNotStart);
  ::setpgid(0, 0);  // Ctrl+C in the console's terminal is for the console
  ::dup2(input, STDIN_FILENO);
  ::dup2(out.writing(), STDOUT_FILENO);
  ::dup2(err.writing(), STDERR_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::execv(words[0], words);
  ::_exit(kDoesNotStart);
}

// What is there, and no more than a look's worth of it: one that prints without end holds nobody up.
void take_some(int fd, std::string& into) {
  constexpr size_t kBytesPerLookMax = 1 << 20;
  char bytes[4096];
  ssize_t count = 0;
  for (size_t taken = 0; taken < kBytesPerLookMax && ((count = ::read(fd, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR));)
    if (count > 0) into.append(bytes, static_cast<size_t>(count)), taken += static_cast<size_t>(count);
}

}  // namespace

SshProcess::SshProcess(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), find_program());
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  Pipe out, err;
  for (const Pipe* pipe : {&out, &err})
    if (pipe->error() != 0) throw no_program(arguments.front(), "does not start: " + std::generic_category().message(pipe->error()));
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(words.data(), out, err, input, parent);
  const int failure = errno;
  ::close(input);
  if (pid_ < 0) throw no_program(arguments.front(), "does not start: " + std::generic_category().message(failure));
  ::setpgid(pid_, pid_);
  out_fd_ = out.take_reading();
  err_fd_ = err.take_reading();
}

SshProcess::~SshProcess() {
  if (runs()) {
    ::kill(-pid_, SIGTERM);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (runs() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kLook);
  }
  ::kill(-pid_, SIGKILL);  // also what it has started and left: a ProxyCommand
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  ::close(out_fd_);
  ::close(err_fd_);
}

bool SshProcess::runs() {
  read_streams();
  if (!ended_ && look_whether_ended()) read_streams();
  return !ended_;
}

void SshProcess::read_streams() {
  take_some(out_fd_, out_);
  take_some(err_fd_, err_);
  if (out_.size() > kOutBytesMax) out_.resize(kOutBytesMax);
  if (err_.size() > kErrBytesMax) err_.erase(0, err_.size() - kErrBytesMax);
}

// It is reaped at our end: until then nobody else can have its number, which is that of its group.
bool SshProcess::look_whether_ended() {
  siginfo_t info{};
  int failed = 0;
  while ((failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT)) != 0 && errno == EINTR) continue;
  if (failed == 0 && info.si_pid == 0) return false;
  ended_ = true;
  exit_code_ = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  return true;
}

std::string SshProcess::complaint() const {
  std::istringstream lines(err_);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) last = line;
  }
  return text::printable(last);
}

}  // namespace ringwright::gui

#include "console/gui/recipe/program_call.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "shared/base/host.h"

namespace ringwright::gui {
namespace {

using Clock = std::chrono::steady_clock;

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  ~Pipe() {
    for (const int end : ends_)
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_writing() { ::close(std::exchange(ends_[1], -1)); }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Adds what is there to `text`; false at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
  if (count > 0) text.append(bytes.data(), static_cast<size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

// Until both ends are closed; false when the time is over.
bool read_all(const Pipe& out, const Pipe& err, Clock::time_point until, ProgramOutcome& outcome) {
  std::array<pollfd, 2> watched = {pollfd{out.reading(), POLLIN, 0}, pollfd{err.reading(), POLLIN, 0}};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    if (::poll(watched.data(), watched.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if ((watched[0].revents != 0) && !read_some(out.reading(), outcome.out)) watched[0].fd = -1;
    if ((watched[1].revents != 0) && !read_some(err.reading(), outcome.err)) watched[1].fd = -1;
  }
  return true;
}

}  // namespace

std::string beside_this_program(const std::string& name) {
  const std::filesystem::path file = host::program_folder() / name;
  return ::access(file.c_str(), X_OK) == 0 ? file.string() : name;
}

ProgramOutcome call_program(const std::vector<std::string>& words, std::chrono::milliseconds limit) {
  Pipe out, err;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.writing(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.writing(), STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ProgramOutcome outcome;
  if (failure != 0) {
    outcome.err = words.front() + ": " + std::generic_category().message(failure);
    return outcome;
  }
  out.close_writing();
  err.close_writing();
  if (!read_all(out, err, Clock::now() + limit, outcome)) {
    ::kill(child, SIGKILL);
    outcome.err += words.front() + ": it did not end in " + std::to_string(limit.count()) + " ms";
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

}  // namespace ringwright::gui

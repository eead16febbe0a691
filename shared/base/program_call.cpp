#include "shared/base/program_call.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "shared/base/host.h"
#include "shared/base/pipe.h"

namespace ringwright {
namespace {

using Clock = std::chrono::steady_clock;

std::string message(int error) { return std::generic_category().message(error); }

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& each : texts) result.push_back(const_cast<char*>(each.c_str()));
  result.push_back(nullptr);
  return result;
}

// 0, or why it did not start.
int start(const ProgramCall& call, const Pipe& out, const Pipe& err, pid_t& child) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.writing(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.writing(), STDERR_FILENO);
  const std::vector<char*> words = pointers(call.words);
  const std::vector<char*> variables = call.environment ? pointers(*call.environment) : std::vector<char*>();
  const int failure = ::posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), call.environment ? variables.data() : environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return failure;
}

// Reads both ends until they are closed; why that was given up, else "".
std::string read_both(const ProgramCall& call, Pipe& out, Pipe& err, ProgramOutcome& outcome) {
  const auto until = Clock::now() + call.limit;
  const std::array<std::pair<Pipe*, std::string*>, 2> streams = {{{&out, &outcome.out}, {&err, &outcome.err}}};
  while (out.reading() >= 0 || err.reading() >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return "it did not end within " + std::to_string(call.limit.count()) + " ms";
    std::array<pollfd, 2> items = {{{out.reading(), POLLIN, 0}, {err.reading(), POLLIN, 0}}};  // poll() leaves out a closed end, which is -1
    if (::poll(items.data(), items.size(), static_cast<int>(left)) < 0 && errno != EINTR) return "poll: " + message(errno);
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].revents == 0) continue;
      std::array<char, 4096> bytes;
      const ssize_t count = ::read(items[i].fd, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) streams[i].first->close_reading();
      if (count > 0) streams[i].second->append(bytes.data(), static_cast<size_t>(count));
      if (streams[i].second->size() > call.output_bytes_max) return "it printed more than " + std::to_string(call.output_bytes_max) + " bytes";
    }
  }
  return "";
}

}  // namespace

ProgramOutcome call_program(const ProgramCall& call) {
  ProgramOutcome outcome;
  Pipe out, err;
  pid_t child = -1;
  const int failure = out.error() != 0 ? out.error() : err.error() != 0 ? err.error() : start(call, out, err, child);
  if (failure != 0) {
    outcome.failure = call.words.front() + " did not start: " + message(failure);
    return outcome;
  }
  out.close_writing();
  err.close_writing();
  outcome.failure = read_both(call, out, err, outcome);
  if (!outcome.failure.empty()) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (outcome.failure.empty()) outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::string beside_this_program(const std::string& name) {
  const std::filesystem::path file = host::program_folder() / name;
  return ::access(file.c_str(), X_OK) == 0 ? file.string() : name;
}

}  // namespace ringwright

#include "shared/doctor/git.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "shared/base/error.h"

extern char** environ;

namespace ringwright::doctor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kAnswerWithin = std::chrono::seconds(20);
constexpr size_t kAnswerBytesMax = size_t{16} << 20;
constexpr int kNotFound = 127;

Error no_answer(const std::string& why) {
  return Error({"RW-DOCTOR-020", "git gives no answer: " + why, "git", "the git program in PATH", "install git", ExitCode::run_failed});
}

// One end of a pipe that closes itself.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw no_answer(std::strerror(errno));
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int end(int which) const { return ends_[which]; }
  void close_end(int which) {
    if (ends_[which] >= 0) ::close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** each = environ; *each; ++each)
    if (std::strncmp(*each, "GIT_", 4) != 0 && std::strncmp(*each, "LC_", 3) != 0) variables.emplace_back(*each);
  for (const char* each : {"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}) variables.emplace_back(each);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& each : texts) result.push_back(each.data());
  result.push_back(nullptr);
  return result;
}

pid_t start(std::vector<std::string> words, const Pipe& out, const Pipe& err) {
  std::vector<std::string> variables = own_environment();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.end(1), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.end(1), STDERR_FILENO);
  pid_t child = -1;
  const int failure = ::posix_spawnp(&child, "git", &actions, nullptr, pointers(words).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw no_answer(std::strerror(failure));
  return child;
}

// Reads both ends until they are closed; false when it takes too long or is too much.
bool read_both(Pipe& out, Pipe& err, GitAnswer& answer) {
  const auto deadline = Clock::now() + kAnswerWithin;
  const std::array<std::pair<Pipe*, std::string*>, 2> streams = {{{&out, &answer.out}, {&err, &answer.err}}};
  while (out.end(0) >= 0 || err.end(0) >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    std::array<pollfd, 2> items = {{{out.end(0), POLLIN, 0}, {err.end(0), POLLIN, 0}}};  // poll() leaves out a closed end, which is -1
    if (left <= 0 || ::poll(items.data(), items.size(), static_cast<int>(left)) == 0) return false;
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].revents == 0) continue;
      char bytes[4096];
      const ssize_t count = ::read(items[i].fd, bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) streams[i].first->close_end(0);
      if (count > 0) streams[i].second->append(bytes, static_cast<size_t>(count));
      if (streams[i].second->size() > kAnswerBytesMax) return false;
    }
  }
  return true;
}

}  // namespace

GitAnswer ask_git(const std::filesystem::path& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", folder.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Pipe out, err;
  const pid_t child = start(std::move(words), out, err);
  out.close_end(1);
  err.close_end(1);
  GitAnswer answer;
  const bool complete = read_both(out, err, answer);
  if (!complete) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!complete) throw no_answer("it did not end within 20 s, or printed too much");
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (answer.exit_code == kNotFound) throw no_answer("it is not in PATH");
  for (std::string* text : {&answer.out, &answer.err})
    while (!text->empty() && text->back() == '\n') text->pop_back();
  return answer;
}

bool is_repository(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / ".git", ignored);
}

std::string checked_out_commit(const std::filesystem::path& folder) {
  if (!is_repository(folder)) return "";
  const GitAnswer answer = ask_git(folder, {"rev-parse", "--verify", "--quiet", "HEAD^{commit}"});
  return answer.exit_code == 0 ? answer.out : "";
}

}  // namespace ringwright::doctor

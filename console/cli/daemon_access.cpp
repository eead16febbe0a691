#include "console/cli/daemon_access.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <thread>
#include <vector>

#include "shared/base/paths.h"
#include "shared/base/program_call.h"
#include "shared/base/resources.h"
#include "shared/history/ownership.h"
#include "shared/history/store.h"

extern char** environ;

namespace ringwright::cli {
namespace {

constexpr const char* kProgram = "ringwrightd";
constexpr const char* kDaemonRunsAlready = "RW-DAEMON-002";
constexpr auto kStartDeadline = std::chrono::seconds(10);
constexpr auto kStartPoll = std::chrono::milliseconds(20);
constexpr auto kOtherDaemonWait = std::chrono::milliseconds(300);
constexpr auto kHandOverWait = std::chrono::seconds(5);
constexpr int kNotFound = 127;
constexpr uint64_t kOpenFilesMin = 64;

std::vector<std::string> arguments_of(const DaemonOptions& options) {
  std::vector<std::string> arguments = {beside_this_program(kProgram)};
  if (!options.store.empty()) arguments.insert(arguments.end(), {"--store", std::filesystem::absolute(options.store).string()});
  if (options.orphan_grace_s) arguments.insert(arguments.end(), {"--orphan-grace-s", std::to_string(*options.orphan_grace_s)});
  if (options.exit_when_idle) arguments.push_back("--exit-when-idle");
  return arguments;
}

std::string read_all(int descriptor) {
  std::string text;
  char bytes[1024];
  for (ssize_t count = 0; (count = ::read(descriptor, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR);)
    if (count > 0) text.append(bytes, static_cast<size_t>(count));
  return text;
}

struct Outcome {
  int exit_code = 0;
  std::string errors;  // what it wrote to its standard error
};

// The daemon goes into the background itself; this waits for the process that reports how that went.
Outcome spawn_and_wait(std::vector<std::string> arguments) {
  int channel[2];
  if (::pipe2(channel, O_CLOEXEC) != 0) return {kNotFound, std::strerror(errno)};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, channel[1], STDERR_FILENO);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(channel[1]);
  Outcome outcome{kNotFound, failure ? std::strerror(failure) : read_all(channel[0])};
  ::close(channel[0]);
  int status = 0;
  if (!failure && ::waitpid(child, &status, 0) == child) outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

bool writes_another_store(const nlohmann::json& daemon, const std::string& wanted) {
  return !wanted.empty() && std::filesystem::weakly_canonical(wanted) != std::filesystem::weakly_canonical(daemon.value("store", ""));
}

// Taken before it is asked to end, so that it cannot be another process of the same number.
class WatchedProcess {
 public:
  explicit WatchedProcess(pid_t pid) : descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
    if (descriptor_ >= 0 || errno == ESRCH) return;
    throw Error({"RW-CLI-022", std::string("the daemon's process cannot be watched: ") + std::strerror(errno), fmt::format("process {}", pid),
                 "a daemon of the same user on this node", "end it with SIGTERM", ExitCode::unreachable});
  }
  ~WatchedProcess() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  WatchedProcess(const WatchedProcess&) = delete;
  WatchedProcess& operator=(const WatchedProcess&) = delete;

  bool has_gone() const { return descriptor_ < 0; }
  void terminate() const { ::syscall(SYS_pidfd_send_signal, descriptor_, SIGTERM, nullptr, 0); }
  // Without a time: as long as it takes.
  bool wait_for_end(std::optional<std::chrono::milliseconds> wait) const {
    if (has_gone()) return true;
    pollfd ended{descriptor_, POLLIN, 0};
    int ready = 0;
    do ready = ::poll(&ended, 1, wait ? static_cast<int>(wait->count()) : -1);
    while (ready < 0 && errno == EINTR);
    return ready > 0;
  }

 private:
  int descriptor_;
};

}  // namespace

Error lives_on(pid_t pid) {
  return Error({"RW-CLI-022", "the daemon lives on", fmt::format("process {}", pid), "its end within 60 s",
                "look at its runs with: ringwright daemon status", ExitCode::unreachable});
}

// Every command that talks to the daemon begins here; a socket of ZeroMQ that cannot have its files would end the program without a word.
wire::Endpoints own_endpoints() {
  resources::allow_open_files(kOpenFilesMin);
  return wire::endpoints_in(paths::runtime_directory());
}

std::optional<nlohmann::json> hello(const wire::Endpoints& endpoints, const std::string& operation) {
  try {
    return wire::ControlClient(endpoints).request(operation);
  } catch (const Error& error) {
    if (error.exit_code() != ExitCode::unreachable) throw;
    return std::nullopt;
  }
}

bool end_daemon(const nlohmann::json& daemon, const StopOptions& options, std::optional<std::chrono::milliseconds> wait) {
  const WatchedProcess process(daemon.at("pid").get<pid_t>());
  if (process.has_gone()) return true;
  wire::ControlClient(own_endpoints()).request("daemon.stop", {{"drain", options.drain}});
  return process.wait_for_end(wait);
}

std::optional<pid_t> end_writer(const StopOptions& options, std::chrono::milliseconds wait) {
  const std::filesystem::path store = options.store.empty() ? paths::default_store() : std::filesystem::path(options.store);
  const std::optional<pid_t> writer = history::writer_process(store);
  if (!writer) return std::nullopt;
  if (options.drain)
    throw Error({"RW-CLI-048",
                 fmt::format("the daemon that writes this history (process {}) has no sockets here: it cannot be asked to drain", *writer),
                 store.string(), "the XDG_RUNTIME_DIR that it was started with", "set that, or leave --drain out", ExitCode::unreachable});
  const WatchedProcess process(*writer);
  if (!process.has_gone() && history::writer_process(store) == writer) process.terminate();  // it has the lock still, so it is no other process
  if (process.wait_for_end(wait)) return writer;
  throw lives_on(*writer);
}

nlohmann::json start_daemon(const DaemonOptions& options) {
  const wire::Endpoints endpoints = own_endpoints();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto deadline = now() + kStartDeadline;
  do {
    const Outcome outcome = spawn_and_wait(arguments_of(options));
    ErrorParts failure = parse_described_error(outcome.errors);
    if (outcome.exit_code == kNotFound)
      throw Error({"RW-CLI-020", "the daemon cannot be started: " + outcome.errors, beside_this_program(kProgram),
                   "ringwrightd beside this program or in PATH", "build or install it; see ringwright doctor", ExitCode::unreachable});
    const bool another = outcome.exit_code != 0 && failure.code == kDaemonRunsAlready;
    if (outcome.exit_code != 0 && !another) {
      failure.exit_code = static_cast<ExitCode>(outcome.exit_code);
      throw Error(failure);
    }
    // Another one may have been started just now and answer soon, or be about to end and never answer: then its place is free soon.
    for (const auto until = another ? std::min(deadline, now() + kOtherDaemonWait) : deadline; now() < until;) {
      if (auto reply = hello(endpoints)) return *reply;
      std::this_thread::sleep_for(kStartPoll);
    }
  } while (now() < deadline);
  throw Error({"RW-DAEMON-001", "the daemon was started but does not answer", endpoints.control, "an answer within 10 s",
               "see its log, ringwrightd.log beside the history file", ExitCode::unreachable});
}

nlohmann::json join_or_start_daemon(const DaemonOptions& options) {
  std::optional<nlohmann::json> running = hello(own_endpoints());
  if (running && writes_another_store(*running, options.store) && running->value("exit_when_idle", false) && running->value("active_runs", 1) == 0) {
    end_daemon(*running, {.drain = true, .store = {}}, kHandOverWait);  // it is idle: this kills no run
    running.reset();
  }
  const nlohmann::json daemon = running ? *running : start_daemon(options);
  if (!writes_another_store(daemon, options.store)) return daemon;
  throw Error({"RW-CLI-021", "the daemon that is running writes another history", daemon.value("store", ""), options.store,
               "leave --store out, or stop the daemon first with: ringwright daemon stop", ExitCode::refused});
}

std::string find_run(wire::ControlClient& client, const std::string& id_or_name) {
  return history::Reader(client.request("hello").at("store").get<std::string>()).run(id_or_name).id;
}

ErrorParts parse_described_error(const std::string& text) {
  ErrorParts parts;
  std::istringstream lines(text);
  const std::pair<std::string, std::string ErrorParts::*> fields[] = {
      {"  at: ", &ErrorParts::where}, {"  expected: ", &ErrorParts::expected}, {"  to fix: ", &ErrorParts::action}};
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("error") && colon != std::string::npos && parts.what.empty()) {
      parts.code = colon > 6 ? line.substr(6, colon - 6) : "";
      parts.what = line.substr(colon + 2);
    }
    for (const auto& [lead, field] : fields)
      if (line.starts_with(lead)) parts.*field = line.substr(lead.size());
  }
  if (parts.what.empty()) parts.what = text.empty() ? "the daemon ended without a word" : text;
  return parts;
}

}  // namespace ringwright::cli

#include "daemon/service/alert_hook.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "shared/base/error.h"
#include "shared/base/printable.h"

namespace ringwright::service {
namespace {

constexpr const char* kRole = "the command for alerts";
constexpr size_t kWaitingMax = 100;
constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kReadsMax = 16;          // in one turn: a command that writes for ever has to wait
constexpr size_t kOutputBytesKept = 400;  // the end of what it wrote

// A file without a name that holds the text: whoever reads it never waits, and who does not read it harms nobody.
Fd input_file(const std::string& text) {
  Fd file(::memfd_create("alert", MFD_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) || ::lseek(file.get(), 0, SEEK_SET) != 0)
    throw Error({"RW-ALERT-004", std::string("the command for alerts gets no input: ") + std::strerror(errno), "", "", ""});
  return file;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  const size_t begin = text.rfind('\n');
  return text::printable(begin == text.npos ? text : text.substr(begin + 1));
}

std::string how_it_ended(int status, const std::string& output) {
  const std::string line = last_line(output);
  const std::string how = WIFSIGNALED(status) ? fmt::format("{} was killed by signal {}", kRole, WTERMSIG(status))
                                              : fmt::format("{} exited with code {}", kRole, WEXITSTATUS(status));
  return line.empty() ? how : how + ": " + line;
}

}  // namespace

AlertHook::AlertHook(std::vector<std::string> command, double time_limit_s) : command_(std::move(command)), time_limit_(time_limit_s) {}

AlertHook::~AlertHook() {
  if (!current_) return;
  ::kill(-current_->process.pid, SIGKILL);
  ::waitpid(current_->process.pid, nullptr, 0);
}

AlertHook::Result AlertHook::result(const Job& job, bool good, const std::string& what, double seconds) const {
  return {job.id, job.run, good, what, seconds};
}

uint64_t AlertHook::call(const std::string& run, nlohmann::json input) {
  if (waiting_.size() >= kWaitingMax) {
    results_.push_back(result(waiting_.front(), false, fmt::format("{} was not called: {} newer alerts wait", kRole, kWaitingMax), 0));
    waiting_.pop_front();
  }
  waiting_.push_back({++last_id_, run, input.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"});
  return last_id_;
}

std::vector<AlertHook::Result> AlertHook::tick(Clock::time_point now) {
  if (current_) look_at_current(now);
  if (!current_ && !waiting_.empty()) start(now);
  return std::exchange(results_, {});
}

void AlertHook::start(Clock::time_point now) {
  Job job = std::move(waiting_.front());
  waiting_.pop_front();
  try {
    const Fd input = input_file(job.input);
    SpawnRequest request;
    request.program = command_.front();
    request.arguments.assign(command_.begin() + 1, command_.end());
    request.directory = "/";
    request.input_fd = input.get();
    request.role = kRole;
    Spawned process = spawn(request);
    current_.emplace(Current{std::move(job), std::move(process), now, "", false});
  } catch (const Error& error) {
    results_.push_back(result(job, false, error.what(), 0));
  }
}

void AlertHook::drain(Fd& fd) {
  char bytes[kReadBytes];
  for (size_t i = 0; fd && i < kReadsMax; ++i) {
    const ssize_t count = ::read(fd.get(), bytes, sizeof bytes);
    if (count < 0) return;
    if (count == 0) return fd.reset();
    current_->last_output.append(bytes, static_cast<size_t>(count));
    if (current_->last_output.size() > kOutputBytesKept) current_->last_output.erase(0, current_->last_output.size() - kOutputBytesKept);
  }
}

void AlertHook::look_at_current(Clock::time_point now) {
  drain(current_->process.out);
  drain(current_->process.err);
  const pid_t pid = current_->process.pid;
  if (!current_->overdue && now - current_->begun > time_limit_) {
    current_->overdue = true;
    ::kill(-pid, SIGKILL);
  }
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid) return;
  ::kill(-pid, SIGKILL);  // what it left in its group, while nobody else can have the number
  int status = 0;
  ::waitpid(pid, &status, 0);
  drain(current_->process.out);
  drain(current_->process.err);
  const double seconds = std::chrono::duration<double>(now - current_->begun).count();
  const bool good = !current_->overdue && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const std::string what = current_->overdue ? fmt::format("{} was ended after {:g} s, its time limit", kRole, time_limit_.count())
                                             : how_it_ended(status, current_->last_output);
  results_.push_back(result(current_->job, good, what, seconds));
  current_.reset();
}

}  // namespace ringwright::service

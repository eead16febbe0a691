#include "daemon/service/server.h"

#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "daemon/service/background.h"
#include "daemon/service/nvml.h"
#include "shared/base/error.h"
#include "shared/base/failpoint.h"
#include "shared/base/paths.h"
#include "shared/wire/control.h"
#include "shared/wire/poll.h"

namespace ringwright::service {
namespace {

constexpr size_t kWorkerEventsMax = 512;  // taken in one turn of the loop
constexpr std::chrono::milliseconds kTick{50};
constexpr auto kIdleBeforeFirstRun = std::chrono::seconds(60);
constexpr auto kIdleUnrecorded = std::chrono::seconds(10);   // so that whoever follows a run hears of an end that can never be recorded
constexpr auto kIdleAfterLastRun = std::chrono::seconds(2);  // so that whoever watched the last run can still ask for what was missed

// As wire::endpoints_in has them.
constexpr const char *kControlSocket = "control.sock", *kEventsSocket = "events.sock", *kWorkersSocket = "workers.sock";
constexpr const char* kSocketNames[] = {kControlSocket, kEventsSocket, kWorkersSocket};

sigset_t taken_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

int new_signal_fd() {
  const sigset_t set = taken_signals();
  const int fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  return fd;
}

}  // namespace

void Server::block_signals() {
  const sigset_t set = taken_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Server::Server(const Options& options, InstanceLock& lock)
    : options_(options),
      lock_(lock),
      socket_files_{options_.runtime_directory, lock},
      started_unix_ns_(wire::now_unix_ns()),
      ledger_(options.store),
      link_(context_, wire::endpoints_in(options.runtime_directory).workers),
      hub_(context_, wire::endpoints_in(options.runtime_directory).events, ledger_.node_sequence(), started_unix_ns_),
      alerts_(options.alerts, ledger_, options.store.parent_path()),
      supervisor_(options, ledger_, link_, alerts_, wire::endpoints_in(options.runtime_directory).workers),
      devices_(options.nvml_library.empty() ? kNvmlLibrary : options.nvml_library),
      control_(context_, options, ledger_, hub_, supervisor_, alerts_, devices_, started_unix_ns_),
      signals_(new_signal_fd()) {
  mark_lost_runs();
}

Server::SocketFiles::~SocketFiles() {
  if (!lock.is_in_place()) return;
  for (const char* name : kSocketNames) ::unlink((directory / name).c_str());
}

// Whoever deletes the folder (a session's end, somebody who cleans up) takes nothing from the daemon but its address. The sockets listen at it once
// more instead of leaving it first: that would remove the new files.
void Server::keep_reachable() {
  const auto is_there = [&](const char* name) { return std::filesystem::exists(options_.runtime_directory / name); };
  if (lock_.is_in_place() && std::all_of(std::begin(kSocketNames), std::end(kSocketNames), is_there)) {
    if (std::exchange(unreachable_, false)) spdlog::info("reachable again in {}", options_.runtime_directory.string());
    return;
  }
  try {
    std::filesystem::create_directories(options_.runtime_directory.parent_path());
    paths::private_directory(options_.runtime_directory);
    if (!lock_.is_in_place()) lock_.take_again();
    if (!is_there(kControlSocket)) control_.bind();
    if (!is_there(kEventsSocket)) hub_.bind();
    if (!is_there(kWorkersSocket)) link_.bind();
    if (!unreachable_) spdlog::warn("files in {} had gone and are made again", options_.runtime_directory.string());
  } catch (const std::exception& error) {
    if (!std::exchange(unreachable_, true))
      spdlog::error("nobody reaches this daemon until its folder {} can be made again, which is tried every second: {}; or end it with: kill {}",
                    options_.runtime_directory.string(), error.what(), ::getpid());
  }
}

void Server::mark_lost_runs() {
  constexpr const char* kReason = "the daemon ended while the run was going on";
  for (const std::string& run : ledger_.mark_unfinished_as_lost(kReason)) {
    spdlog::warn("run {}: lost: {}", run, kReason);
    alerts_.watch(ledger_.reader().run(run));
    ledger_.append_own(run, {{"name", "run.state"}, {"state", history::to_string(history::RunState::lost)}, {"reason", kReason}});
  }
}

void Server::run() {
  enum { kControl, kEvents, kSignals, kCommitted, kWorkers, kOutput, kItems };
  std::array<zmq::pollitem_t, kItems> items{};
  items[kControl] = {control_.socket().handle(), 0, ZMQ_POLLIN, 0};
  items[kEvents] = {hub_.socket().handle(), 0, ZMQ_POLLIN, 0};
  items[kSignals] = {nullptr, signals_.get(), ZMQ_POLLIN, 0};
  items[kCommitted] = {nullptr, ledger_.fd(), ZMQ_POLLIN, 0};
  items[kWorkers] = {link_.socket().handle(), 0, ZMQ_POLLIN, 0};
  items[kOutput] = {nullptr, supervisor_.output_fd(), ZMQ_POLLIN, 0};
  while (!is_over()) {
    const bool room = ledger_.has_room();  // otherwise the workers wait, and nobody else does
    wire::poll(items.data(), room ? kItems : kWorkers, supervisor_.active() > 0 || alerts_.busy() ? kTick : 10 * kTick);
    if (items[kSignals].revents) take_signals();
    if (items[kCommitted].revents) take_committed();
    if (room && items[kWorkers].revents) take_worker_events();
    if (room && items[kOutput].revents) supervisor_.drain_output();
    if (items[kEvents].revents) hub_.take_subscriptions();
    if (items[kControl].revents) control_.answer_requests();
    each_second();
  }
  notify_service_manager("STOPPING=1");
}

void Server::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) supervisor_.reap();
    if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) begin_to_end(ending_);
  }
}

// The second request to end kills what the first one asked to stop.
void Server::begin_to_end(bool force) {
  spdlog::info("ending: {} runs are {}", supervisor_.active(), force ? "killed" : "stopped first");
  ending_ = true;
  supervisor_.refuse_launches("the daemon is ending");
  supervisor_.stop_all(force, "the daemon was ended");
}

void Server::take_worker_events() {
  wire::Event event;
  for (size_t i = 0; i < kWorkerEventsMax && ledger_.has_room() && link_.receive(event); ++i) supervisor_.take_event(std::exchange(event, {}));
}

// Committed, so first acknowledged, then published.
void Server::take_committed() {
  const std::vector<wire::Event> events = ledger_.take_committed();
  std::map<std::pair<std::string_view, int>, uint64_t> acknowledged;
  for (const wire::Event& event : events)
    if (event.worker_sequence > 0) {
      uint64_t& sequence = acknowledged[{event.run, event.rank}];
      sequence = std::max(sequence, event.worker_sequence);
    }
  failpoint("daemon.before_acknowledge");
  for (const auto& [sender, sequence] : acknowledged) link_.send(std::string(sender.first), sender.second, {{"op", "ack"}, {"sequence", sequence}});
  failpoint("daemon.before_publish");
  for (const wire::Event& event : events) {
    if (event.node_sequence == 0) continue;  // stored before
    hub_.publish(event);
    supervisor_.note_published(event);
  }
  failpoint("daemon.after_publish");
}

void Server::each_second() {
  const auto now = Clock::now();
  if (now >= tick_at_) {
    tick_at_ = now + kTick;
    supervisor_.reap();
    supervisor_.tick();
    alerts_.tick();
  }
  if (now < second_at_) return;
  second_at_ = now + std::chrono::seconds(1);
  if (const std::optional<ErrorParts> broken = ledger_.broken())
    supervisor_.fail_all_unrecorded("the history cannot record it any more: " + broken->what);
  keep_reachable();
  supervisor_.ping();
  hub_.set_devices(control_.devices());
  hub_.welcome();
  control_.set_damaged_worker_messages(link_.damaged_count());
}

bool Server::is_over() {
  if (supervisor_.active() > 0) {
    last_active_at_ = Clock::now();
    if (!ending_ && control_.end_wish() == EndWish::stop_runs) begin_to_end(false);
    return false;
  }
  if (ending_) return true;
  if (alerts_.busy()) return false;  // for as long as its command may run
  if (control_.end_wish() != EndWish::none) return true;
  if (!options_.exit_when_idle) return false;
  const Clock::duration idle = Clock::now() - last_active_at_;
  if (!ledger_.unrecorded().empty()) return idle >= kIdleUnrecorded && ledger_.broken();
  return idle >= (supervisor_.launched() > 0 ? std::chrono::duration_cast<Clock::duration>(kIdleAfterLastRun)
                                             : std::chrono::duration_cast<Clock::duration>(kIdleBeforeFirstRun));
}

}  // namespace ringwright::service

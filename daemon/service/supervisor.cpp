#include "daemon/service/supervisor.h"

#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "daemon/service/admission.h"
#include "daemon/service/launch_request.h"
#include "daemon/service/strays.h"
#include "shared/base/error.h"
#include "shared/base/process_tree.h"
#include "shared/fingerprint/machine.h"

namespace ringwright::service {
namespace {

constexpr int kColors = 8;                             // in the console's series palette
constexpr auto kStraysWait = std::chrono::seconds(2);  // a process that was killed is gone at once, unless it hangs in the kernel
constexpr auto kStraysPoll = std::chrono::milliseconds(1);

int new_epoll() {
  const int fd = ::epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "epoll");
  return fd;
}

}  // namespace

Supervisor::Supervisor(const Options& options, Ledger& ledger, WorkerLink& link, AlertCenter& alerts, std::string workers_endpoint)
    : output_poll_(new_epoll()), services_{options, ledger, link, std::move(workers_endpoint), output_poll_.get()}, alerts_(alerts) {
  adopt_orphans_below();
}

Supervisor::~Supervisor() {
  runs_.clear();
  strays_possible_ = true;
  for (const auto deadline = Run::Clock::now() + kStraysWait; strays_possible_ && Run::Clock::now() < deadline;
       std::this_thread::sleep_for(kStraysPoll))
    end_strays();
}

void Supervisor::end_strays() {
  strays_possible_ = service::end_strays([this](pid_t pid) {
    return alerts_.has_process(pid) || std::any_of(runs_.begin(), runs_.end(), [&](const auto& entry) { return entry.second->has_worker(pid); });
  });
}

std::string Supervisor::launch(const nlohmann::json& arguments) {
  if (!refusal_.empty())
    throw Error(
        {"RW-DAEMON-033", "no run is started any more: " + refusal_, "", "", "start a new daemon when this one has ended", ExitCode::refused});
  if (runs_.size() >= kActiveRunsMax)
    throw Error({"RW-DAEMON-034", std::to_string(runs_.size()) + " runs are going on", "", "at most " + std::to_string(kActiveRunsMax),
                 "stop one: ringwright stop RUN", ExitCode::refused});
  if (::access(services_.options.worker_program.c_str(), X_OK) != 0)
    throw Error({"RW-DAEMON-021", "the worker program cannot be run", services_.options.worker_program.string(),
                 "ringwright-worker beside ringwrightd", "install it there, or start the daemon with --worker PROGRAM", ExitCode::run_failed});
  LaunchRequest request = read_launch_request(arguments);
  admit(request);
  (void)AlertCenter::rules_of(request.record.recipe);
  ListeningPort port(request.port);
  request.record.id = new_id();
  request.record.state = history::RunState::queued;
  request.record.created_unix_ns = wire::now_unix_ns();
  request.record.color_index = next_color();
  request.spec.run = request.record.id;
  request.spec.directory = (services_.options.store.parent_path() / "runs" / request.record.id).string();
  request.spec.rendezvous_port = port.port();
  request.spec.orphan_grace_s = services_.options.orphan_grace_s;
  const std::string id = request.record.id;
  record_and_start(std::move(request.record), std::move(request.spec), std::move(port));
  if (const auto before = arguments.find("relaunch_of"); before != arguments.end() && before->is_string())
    note_relaunch(*before, id, who_asks(arguments));
  return id;
}

// In the history of both.
void Supervisor::note_relaunch(const std::string& before, const std::string& now, const std::string& who) {
  const nlohmann::json event = {{"name", "run.steering"}, {"action", "relaunch"}, {"who", who}, {"of", before}, {"as", now}};
  services_.ledger.append_own(now, event);
  try {
    services_.ledger.append_own(services_.ledger.reader().run(before).id, event);
  } catch (const Error&) {
    // Another history's run: this one has the event.
  }
}

void Supervisor::record_and_start(history::RunRecord record, wire::WorkerSpec spec, ListeningPort port) {
  const std::filesystem::path directory = spec.directory;
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  try {
    wire::write_worker_spec(spec, directory / "spec.json");
    services_.ledger.create_run(record);
  } catch (...) {
    std::filesystem::remove_all(directory, failure);
    throw;
  }
  alerts_.watch(record);
  services_.ledger.set_fingerprint(record.id, fingerprint::node_fingerprint());
  const std::string id = record.id;
  Run& run = *(runs_[id] = std::make_unique<Run>(services_, std::move(record), std::move(spec)));
  ++launched_;
  run.start(std::move(port));
}

std::string Supervisor::new_id() const {
  uint32_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) throw std::system_error(errno, std::generic_category(), "getrandom");
  return fmt::format("r_{:08x}", number);
}

int Supervisor::next_color() {
  if (color_index_ < 0) {
    const auto newest = services_.ledger.reader().runs(1);
    color_index_ = newest.empty() ? kColors - 1 : newest.front().color_index;
  }
  return color_index_ = (color_index_ + 1) % kColors;
}

// By id, else by what the history takes for it; null when it is over.
Run* Supervisor::find_active(const std::string& run) {
  auto found = runs_.find(run);
  if (found == runs_.end()) found = runs_.find(services_.ledger.reader().run(run).id);
  return found == runs_.end() ? nullptr : found->second.get();
}

history::RunState Supervisor::stop(const std::string& run, bool force, const std::string& reason, const std::string& who) {
  Run* const active = find_active(run);
  if (!active) return state_of_ended(run);
  active->request_stop(force, reason, who);
  return active->state();
}

// The store may not have it yet.
history::RunState Supervisor::state_of_ended(const std::string& run) {
  const history::RunRecord record = services_.ledger.reader().run(run);
  const auto unrecorded = services_.ledger.unrecorded();
  const auto found = unrecorded.find(record.id);
  return found == unrecorded.end() ? record.state : found->second.state;
}

history::RunState Supervisor::steer(const std::string& run, const SteeringRequest& request) {
  if (Run* const active = find_active(run)) {
    active->steer(request);
    return active->state();
  }
  const history::RunRecord over = services_.ledger.reader().run(run);
  const history::RunState state = state_of_ended(over.id);
  require_steerable(request, {over.id, state, over.algorithm, false, false});
  return state;
}

void Supervisor::stop_all(bool force, const std::string& reason) {
  for (const auto& [id, run] : runs_) run->request_stop(force, reason, "");
}

void Supervisor::fail_all_unrecorded(const std::string& why) {
  for (const auto& [id, run] : runs_) run->fail_unrecorded(why);
}

void Supervisor::take_event(wire::Event event) {
  const auto found = runs_.find(event.run);
  if (found == runs_.end()) {
    ++unknown_events_;  // an orphan of an earlier daemon, or the last words of a run that is over
    return;
  }
  found->second->take_event(std::move(event));
}

void Supervisor::drain_output() {
  for (const auto& [id, run] : runs_) run->drain_output();
}

void Supervisor::reap() {
  for (const auto& [id, run] : runs_) strays_possible_ |= run->reap();
  if (strays_possible_) end_strays();
  forget_ended();
}

void Supervisor::tick() {
  const auto now = Run::Clock::now();
  for (const auto& [id, run] : runs_) run->tick(now);
  forget_ended();
}

void Supervisor::ping() {
  for (const auto& [id, run] : runs_) run->ping();
}

void Supervisor::note_published(const wire::Event& event) {
  alerts_.note(event);
  if (const auto found = runs_.find(event.run); found != runs_.end()) found->second->note_published(event);
}

void Supervisor::forget_ended() {
  std::erase_if(runs_, [this](const auto& entry) {
    const Run& run = *entry.second;
    if (!run.over()) return false;
    lines_cut_ += run.lines_cut();
    log_write_failures_ += run.log_write_failures();
    return true;
  });
}

std::vector<wire::DeviceRank> Supervisor::ranks_among(const std::vector<int64_t>& processes) const {
  std::vector<wire::DeviceRank> ranks;
  for (const auto& [id, run] : runs_)
    for (const int64_t process : processes)
      if (const auto rank = run->rank_of(process)) ranks.push_back({id, *rank});
  return ranks;
}

nlohmann::json Supervisor::summaries() const {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [id, run] : runs_) all.push_back(run->summary());
  return all;
}

nlohmann::json Supervisor::counters() const {
  uint64_t lines_cut = lines_cut_, failures = log_write_failures_;
  for (const auto& [id, run] : runs_) lines_cut += run->lines_cut(), failures += run->log_write_failures();
  return {
      {"runs_launched", launched_}, {"events_of_unknown_runs", unknown_events_}, {"log_lines_cut", lines_cut}, {"rank_log_write_failures", failures}};
}

}  // namespace ringwright::service

#include "daemon/service/run.h"

#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "shared/base/error.h"

namespace ringwright::service {
namespace {

using history::RunState;

constexpr size_t kReadBytes = 64 << 10;                      // from one pipe in one go
constexpr auto kSettleTime = std::chrono::milliseconds(50);  // the last messages of a worker that died are still on their way
constexpr size_t kLatestPointsMax = 512;                     // names in a summary
constexpr size_t kReasonLineBytesMax = 200;
constexpr size_t kMemoryOfErrorBytesMax = 2000;
constexpr const char* kLostGroupCodes = "RW-GROUP-";

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

std::string what_it_told(int rank, const std::string& error) { return "rank " + std::to_string(rank) + " failed: " + error; }

}  // namespace

struct Run::Rank {
  Rank(int rank, const std::filesystem::path& directory) : rank(rank), log(directory / ("rank" + std::to_string(rank) + ".log")) {}

  const int rank;
  pid_t pid = -1;
  bool alive = false;
  int status = 0;  // as from waitpid, once it is not alive any more
  Fd out, err;
  LineSplitter out_lines, err_lines;
  RankLog log;
  bool connected = false;
  uint64_t last_sequence = 0;
  std::string told_code, told_error;  // what the worker itself said of its failure
  nlohmann::json heartbeat;
};

Run::Run(RunServices& services, history::RunRecord record, wire::WorkerSpec spec)
    : services_(services), record_(std::move(record)), spec_(std::move(spec)), directory_(spec_.directory) {
  for (int rank = 0; rank < spec_.world_size; ++rank) ranks_.push_back(std::make_unique<Rank>(rank, directory_));
  const nlohmann::json checkpointing = spec_.recipe.is_object() ? spec_.recipe.value("checkpointing", nlohmann::json::object()) : nlohmann::json();
  if (!checkpointing.is_object()) return;
  const auto enabled = checkpointing.find("enabled"), period = checkpointing.find("save_period");
  saves_checkpoints_ = enabled != checkpointing.end() && *enabled == true;
  saves_periodically_ = saves_checkpoints_ && period != checkpointing.end() && period->is_number() && period->get<double>() > 0;
}

Run::~Run() {
  signal_all(SIGKILL);
  for (const auto& rank : ranks_)
    if (rank->alive) ::waitpid(rank->pid, nullptr, 0);
}

void Run::start(ListeningPort port) {
  set_state(RunState::starting, "",
            {{"run_name", record_.name},
             {"algorithm", record_.algorithm},
             {"world_size", record_.world_size},
             {"mesh", record_.mesh},
             {"created_unix_ns", record_.created_unix_ns},
             {"color_index", record_.color_index}});
  for (const auto& rank : ranks_) {
    try {
      start_rank(*rank, rank->rank == 0 ? port.fd() : -1);
    } catch (const Error& error) {
      rank->told_error = describe(error.parts());
      fail(*rank, std::string("could not be started: ") + error.what());
      return;
    }
  }
}

void Run::start_rank(Rank& rank, int listen_fd) {
  SpawnRequest request;
  request.program = services_.options.worker_program;
  request.arguments = {"--spec", (directory_ / "spec.json").string(), "--rank", std::to_string(rank.rank), "--channel", services_.workers_endpoint};
  if (listen_fd >= 0) request.arguments.insert(request.arguments.end(), {"--listen-fd", std::to_string(kInheritedFd)});
  request.environment = {{"RINGWRIGHT_DAEMON_PID", std::to_string(::getpid())}};
  if (spec_.threads_per_rank > 0) request.environment.emplace_back("OMP_NUM_THREADS", std::to_string(spec_.threads_per_rank));
  // Threads that spin for each other stand still for milliseconds where somebody else computes, too.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) request.environment.emplace_back("OMP_WAIT_POLICY", "passive");
  request.directory = directory_;
  request.inherited_fd = listen_fd;
  Spawned spawned = spawn(request);
  rank.pid = spawned.pid;
  rank.alive = true;
  rank.out = std::move(spawned.out);
  rank.err = std::move(spawned.err);
  watch_output(rank, rank.out);
  watch_output(rank, rank.err);
}

void Run::watch_output(Rank&, Fd& fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(services_.output_poll_fd, EPOLL_CTL_ADD, fd.get(), &event);
}

void Run::request_stop(bool force, const std::string& reason, const std::string& who) {
  if (over()) return;
  if (!who.empty()) services_.ledger.append_own(id(), {{"name", "run.steering"}, {"action", force ? "stop-now" : "stop"}, {"who", who}});
  const auto now = Clock::now();
  if (!stop_asked() && !failure_) {
    stop_asked_at_ = now;
    stop_reason_ = reason;
    set_state(RunState::stopping, reason);
    for (const auto& rank : ranks_)
      if (rank->connected) services_.link.send(id(), rank->rank, {{"op", "stop"}});
  }
  if (!force || killed_) return;
  signal_all(SIGKILL);
  killed_ = true;
}

void Run::steer(const SteeringRequest& request) {
  require_steerable(request, {id(), record_.state, record_.algorithm, saves_checkpoints_, saves_periodically_});
  stop_after_checkpoint_ |= request.action == SteeringAction::stop_after_checkpoint;
  services_.ledger.append_own(id(), steering_event(request));
  services_.link.send(id(), 0, message_to_worker(request));
}

void Run::take_event(wire::Event event) {
  if (event.rank < 0 || event.rank >= static_cast<int>(ranks_.size())) return;
  Rank& rank = *ranks_[static_cast<size_t>(event.rank)];
  if (!rank.connected) take_connection(rank);
  if (event.worker_sequence <= rank.last_sequence) return;
  rank.last_sequence = event.worker_sequence;
  if (event.kind == wire::Kind::log) rank.log.write(event.body.value("text", ""));
  if (event.kind == wire::Kind::event) take_named(rank, event.body);
  services_.ledger.append(std::move(event));
}

void Run::take_connection(Rank& rank) {
  rank.connected = true;
  if (stop_asked()) services_.link.send(id(), rank.rank, {{"op", "stop"}});
  const bool all = std::all_of(ranks_.begin(), ranks_.end(), [](const auto& each) { return each->connected; });
  if (all && record_.state == RunState::starting) set_state(RunState::running, "");
}

void Run::take_named(Rank& rank, const nlohmann::json& body) {
  const std::string name = body.value("name", "");
  if (name == "run.error") rank.told_code = body.value("code", ""), rank.told_error = body.value("what", "").substr(0, kMemoryOfErrorBytesMax);
  if (rank.rank == 0) follow_steering(name, body);
}

// What rank 0 has done between two steps.
void Run::follow_steering(const std::string& name, const nlohmann::json& body) {
  const auto number = [&](const char* field) {
    const auto found = body.find(field);
    return found != body.end() && found->is_number() ? found->get<double>() : -1;
  };
  const std::string after = "after step " + std::to_string(static_cast<int64_t>(number("step")));
  if (name == "run.paused" && record_.state == RunState::running) set_state(RunState::paused, after);
  if (name == "run.resumed" && record_.state == RunState::paused) set_state(RunState::running, "");
  if (name == "run.setting" && body.value("key", "") == "checkpointing.save_period") saves_periodically_ = saves_checkpoints_ && number("value") > 0;
  if (name != "run.stopping" || !stop_after_checkpoint_ || stop_asked() || failure_) return;
  stop_asked_at_ = Clock::now();
  stop_reason_ = "on request, with a checkpoint " + after;
  set_state(RunState::stopping, stop_reason_);
}

void Run::drain_output() {
  for (const auto& rank : ranks_) {
    drain(*rank, rank->out, rank->out_lines, "info");
    drain(*rank, rank->err, rank->err_lines, "warn");
  }
}

void Run::drain(Rank& rank, Fd& fd, LineSplitter& splitter, const char* level) {
  if (!fd) return;
  char bytes[kReadBytes];
  const ssize_t count = ::read(fd.get(), bytes, sizeof bytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const auto take = [&](std::string line) { take_line(rank, level, std::move(line)); };
  if (count > 0) return splitter.feed({bytes, static_cast<size_t>(count)}, take);
  splitter.finish(take);
  fd.reset();
}

void Run::take_line(Rank& rank, const char* level, std::string line) {
  rank.log.write(line);
  wire::Event event;
  event.run = id();
  event.kind = wire::Kind::log;
  event.rank = rank.rank;
  event.time_unix_ns = wire::now_unix_ns();
  event.body = {{"level", level}, {"text", std::move(line)}};
  services_.ledger.append(std::move(event));
}

bool Run::reap() {
  Rank* first = nullptr;
  bool any = false;
  const auto is_failure = [](const Rank& rank) { return !WIFEXITED(rank.status) || WEXITSTATUS(rank.status) != 0; };
  for (const auto& rank : ranks_) {
    if (!rank->alive || !reap_rank(*rank)) continue;
    any = true;
    if (!is_failure(*rank)) continue;
    // Of several that are found dead at once, one that was killed is the cause; the others lost their connection to it.
    if (!first || (WIFSIGNALED(rank->status) && !WIFSIGNALED(first->status))) first = rank.get();
  }
  if (first && !failure_ && !stop_asked()) fail(*first, how_it_ended(first->status));
  finish_if_all_ended(Clock::now());
  return any;
}

bool Run::has_worker(pid_t pid) const {
  return std::any_of(ranks_.begin(), ranks_.end(), [&](const auto& rank) { return rank->alive && rank->pid == pid; });
}

// While the leader is a zombie its group's number cannot be taken by others, so what is left of the group is killed before it is reaped.
bool Run::reap_rank(Rank& rank) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(rank.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != rank.pid) return false;
  ::kill(-rank.pid, SIGKILL);
  ::waitpid(rank.pid, &rank.status, 0);
  rank.alive = false;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [fd, splitter, level] :
         {std::tuple<Fd*, LineSplitter*, const char*>{&rank.out, &rank.out_lines, "info"}, {&rank.err, &rank.err_lines, "warn"}}) {
      const bool was_open = static_cast<bool>(*fd);
      errno = 0;
      drain(rank, *fd, *splitter, level);
      more |= was_open && *fd && errno == 0;
    }
  }
  const auto finish = [&](std::string line) { take_line(rank, "info", std::move(line)); };
  rank.out_lines.finish(finish);
  rank.err_lines.finish(finish);
  rank.out.reset();
  rank.err.reset();
  return true;
}

void Run::fail(Rank& rank, std::string how) {
  failure_ = Failure{rank.rank, "rank " + std::to_string(rank.rank) + " " + how};
  failed_at_ = Clock::now();
  const auto& lines = rank.log.last_lines();
  const bool said = !rank.told_error.empty();
  if (said)
    failure_->how += ": " + rank.told_error;
  else if (!lines.empty() && how.starts_with("exited"))
    failure_->how += ": " + lines.back().substr(0, kReasonLineBytesMax);
  blame_the_cause();
  end_after_failure();
}

void Run::fail_unrecorded(const std::string& why) {
  if (over() || failure_ || stop_asked()) return;
  failure_ = Failure{-1, why};
  failed_at_ = Clock::now();
  end_after_failure();
}

void Run::end_after_failure() {
  spdlog::warn("run {}: {}", id(), failure_->how);
  set_state(RunState::stopping, failure_->how, {{"failed_rank", failure_->rank}, {"last_lines", last_lines_of_failed_rank()}});
  signal_all(SIGTERM);
  terminated_at_ = failed_at_;
}

std::deque<std::string> Run::last_lines_of_failed_rank() const {
  return failure_->rank < 0 ? std::deque<std::string>() : ranks_[static_cast<size_t>(failure_->rank)]->log.last_lines();
}

// The rank that told an error which is not just that it lost the others.
const Run::Rank* Run::cause() const {
  const auto found = std::find_if(ranks_.begin(), ranks_.end(),
                                  [](const auto& rank) { return !rank->told_code.empty() && !rank->told_code.starts_with(kLostGroupCodes); });
  return found == ranks_.end() ? nullptr : found->get();
}

// The rank that is found dead first may be one whose group another rank has broken; what that one says may come later.
void Run::blame_the_cause() {
  if (failure_->rank < 0 || !ranks_[static_cast<size_t>(failure_->rank)]->told_code.starts_with(kLostGroupCodes)) return;
  if (const Rank* rank = cause()) failure_ = Failure{rank->rank, what_it_told(rank->rank, rank->told_error)};
}

void Run::signal_all(int signal) {
  for (const auto& rank : ranks_)
    if (rank->alive) ::kill(-rank->pid, signal);
}

void Run::tick(Clock::time_point now) {
  const std::chrono::duration<double> grace(services_.options.stop_grace_s);
  if (stop_asked() && !terminated_at_ && now - *stop_asked_at_ >= grace) {
    signal_all(SIGTERM);
    terminated_at_ = now;
  }
  if (terminated_at_ && !killed_ && now - *terminated_at_ >= grace) {
    signal_all(SIGKILL);
    killed_ = true;
  }
  finish_if_all_ended(now);
}

void Run::finish_if_all_ended(Clock::time_point now) {
  if (over()) return;
  if (std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->alive; })) return;
  if (!ended_at_) ended_at_ = now;
  if (failure_) {
    if (now - *ended_at_ < kSettleTime) return;
    blame_the_cause();
    record_.failed_rank = failure_->rank;
    set_state(RunState::failed, failure_->how, {{"failed_rank", failure_->rank}, {"last_lines", last_lines_of_failed_rank()}});
  } else if (stop_asked()) {
    if (now - *ended_at_ < kSettleTime) return;
    const Rank* failed = terminated_at_ ? nullptr : cause();  // by itself, as with a checkpoint that could not be written
    set_state(RunState::stopped, killed_ ? "forced" : stop_reason_ + (failed ? "; " + what_it_told(failed->rank, failed->told_error) : ""));
  } else {
    set_state(RunState::finished, "");
  }
}

void Run::set_state(RunState state, const std::string& reason, nlohmann::json more) {
  record_.state = state;
  record_.reason = reason;
  const int64_t now = wire::now_unix_ns();
  if (state == RunState::running && record_.started_unix_ns == 0) record_.started_unix_ns = now;
  if (history::is_final(state)) record_.ended_unix_ns = now;
  spdlog::info("run {} ({}): {}{}{}", id(), record_.name, history::to_string(state), reason.empty() ? "" : ": ", reason);
  more["name"] = "run.state";
  more["state"] = history::to_string(state);
  more["reason"] = reason;
  // In this order: who finds the state in the store finds the event too, and the event is published only when the state is in the store. One time for
  // both: who sees the run live and who reads it later see the same.
  services_.ledger.append_own(id(), std::move(more), now);
  services_.ledger.set_state(id(), state, reason, record_.failed_rank, now);
}

void Run::ping() {
  for (const auto& rank : ranks_)
    if (rank->alive && rank->connected) services_.link.send(id(), rank->rank, {{"op", "ping"}});
}

void Run::note_published(const wire::Event& event) {
  if (event.kind == wire::Kind::heartbeat && event.rank >= 0 && event.rank < static_cast<int>(ranks_.size()))
    ranks_[static_cast<size_t>(event.rank)]->heartbeat = event.body;
  if (event.kind != wire::Kind::metric || event.rank != 0) return;
  const auto points = event.body.find("points");
  if (points == event.body.end() || !points->is_object()) return;
  for (const auto& [name, value] : points->items())
    if (latest_points_.size() < kLatestPointsMax || latest_points_.contains(name)) latest_points_[name] = value;
  const auto number = [&](const char* name) {
    const auto found = event.body.find(name);
    return found != event.body.end() && found->is_number_integer() ? found->get<int64_t>() : int64_t{-1};
  };
  latest_step_ = std::max(latest_step_, number("step"));
  latest_tokens_ = std::max(latest_tokens_, number("tokens"));
}

std::optional<int> Run::rank_of(int64_t process) const {
  for (const auto& rank : ranks_)
    if (rank->alive && rank->pid == process) return rank->rank;
  return std::nullopt;
}

nlohmann::json Run::summary() const {
  nlohmann::json ranks = nlohmann::json::array();
  for (const auto& rank : ranks_)
    ranks.push_back(
        {{"rank", rank->rank}, {"pid", rank->pid}, {"alive", rank->alive}, {"connected", rank->connected}, {"heartbeat", rank->heartbeat}});
  return {{"run", id()},
          {"name", record_.name},
          {"algorithm", record_.algorithm},
          {"state", history::to_string(record_.state)},
          {"reason", record_.reason},
          {"stop_after_checkpoint", stop_after_checkpoint_},
          {"world_size", record_.world_size},
          {"mesh", record_.mesh},
          {"directory", directory_.string()},
          {"created_unix_ns", record_.created_unix_ns},
          {"started_unix_ns", record_.started_unix_ns},
          {"ended_unix_ns", record_.ended_unix_ns},
          {"color_index", record_.color_index},
          {"last_step", latest_step_},
          {"tokens", latest_tokens_},
          {"points", latest_points_},
          {"ranks", std::move(ranks)}};
}

uint64_t Run::lines_cut() const {
  uint64_t count = 0;
  for (const auto& rank : ranks_) count += rank->out_lines.lines_cut() + rank->err_lines.lines_cut();
  return count;
}

uint64_t Run::log_write_failures() const {
  uint64_t count = 0;
  for (const auto& rank : ranks_) count += rank->log.write_failures();
  return count;
}

}  // namespace ringwright::service

#include "console/cli/run_follow.h"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>

#include "console/cli/daemon_access.h"
#include "shared/base/error.h"
#include "shared/history/store.h"
#include "shared/wire/requester.h"

namespace ringwright::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLookPeriod = std::chrono::milliseconds(100);
constexpr auto kSilence = std::chrono::seconds(2);           // workers tell something each second
constexpr auto kSilenceInTrouble = std::chrono::seconds(1);  // when it is known to be asked to stop, or not to be recorded
constexpr auto kStatusTimeout = std::chrono::milliseconds(500);
constexpr size_t kWaitingEventsMax = 10'000;  // then the stream waits for the terminal; what it misses it fetches again
constexpr size_t kReplayedEventsMax = 200'000;

// Set by the handlers, looked at by the loop.
volatile sig_atomic_t signals_seen = 0;
volatile sig_atomic_t last_signal = 0;
volatile sig_atomic_t hung_up = 0;

void note_signal(int number) {
  signals_seen = signals_seen + 1;
  last_signal = number;
}

void note_hangup(int) { hung_up = 1; }

// SIGINT and SIGTERM count here for as long as this lives; SIGHUP is noted, unless it is ignored, as nohup has it.
class SignalsAreCounted {
 public:
  SignalsAreCounted() {
    signals_seen = 0;
    last_signal = 0;
    hung_up = 0;
    struct sigaction hangup{};
    hangup.sa_handler = note_hangup;
    ::sigaction(SIGHUP, nullptr, &hangup_);
    if (hangup_.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &hangup, nullptr);
    struct sigaction action{};
    action.sa_handler = note_signal;
    ::sigaction(SIGINT, &action, &interrupt_);
    ::sigaction(SIGTERM, &action, &terminate_);
  }
  ~SignalsAreCounted() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
    ::sigaction(SIGHUP, &hangup_, nullptr);
  }
  SignalsAreCounted(const SignalsAreCounted&) = delete;
  SignalsAreCounted& operator=(const SignalsAreCounted&) = delete;

 private:
  struct sigaction interrupt_{};
  struct sigaction terminate_{};
  struct sigaction hangup_{};
};

// Between the stream's thread and the loop.
class Inbox {
 public:
  void put(const wire::Event& event) {
    std::unique_lock guard(mutex_);
    room_.wait(guard, [&] { return events_.size() < kWaitingEventsMax || closed_; });
    events_.push_back(event);
    filled_.notify_one();
  }
  std::deque<wire::Event> take() {
    std::unique_lock guard(mutex_);
    filled_.wait_for(guard, kLookPeriod, [&] { return !events_.empty(); });
    room_.notify_all();
    return std::exchange(events_, {});
  }
  void close() {
    const std::lock_guard guard(mutex_);
    closed_ = true;
    room_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<wire::Event> events_;
  bool closed_ = false;
};

class Follower {
 public:
  Follower(const FollowedRun& run, const wire::Endpoints& endpoints, RunDisplay& display)
      : run_(run), endpoints_(endpoints), display_(display), progress_(run.step_limit) {}

  int run() {
    const SignalsAreCounted signals;
    {
      wire::EventStream stream(endpoints_, run_.after_sequence, [this](const wire::Event& event) { inbox_.put(event); }, run_.run);
      while (!progress_.ended() && !hung_up) {
        for (const wire::Event& event : inbox_.take()) add(event);
        display_.show_progress(progress_);
        answer_signals();
        look_at_the_history();
        if (stream.status().connection == wire::EventStream::Connection::lost) read_the_rest();
      }
      inbox_.close();
    }
    if (!progress_.ended()) return leave();
    display_.show_summary(progress_, run_.run, run_.name);
    if (progress_.unrecorded()) tell_that_it_is_unrecorded();
    if (progress_.state() == history::RunState::stopped && asked_ > 0) return 128 + asked_signal_;
    if (progress_.unrecorded()) return static_cast<int>(ExitCode::store);
    if (progress_.state() == history::RunState::finished) return 0;
    return static_cast<int>(ExitCode::run_failed);
  }

 private:
  // The terminal has gone; the run goes on, as with --detach.
  int leave() {
    display_.show_note("The terminal has hung up; run " + run_.run + " goes on. Stop it with: ringwright stop " + run_.run);
    return 128 + SIGHUP;
  }

  void tell_that_it_is_unrecorded() {
    display_.show_note(
        describe({"RW-CLI-047",
                  "run " + run_.run + " has ended, and the history does not have its end: " + (store_error_ ? store_error_->what : "no reason given"),
                  store_error_ ? store_error_->where : run_.store, "a history that can be written", store_error_ ? store_error_->action : "",
                  ExitCode::store}));
  }

  void add(const wire::Event& event) {
    heard_at_ = Clock::now();
    progress_.add(event);
    display_.show_event(event);
  }

  void answer_signals() {
    const int seen = signals_seen;
    if (seen <= asked_ || asked_ >= 2) return;
    asked_ = std::min(seen, 2);
    asked_signal_ = last_signal;
    const bool force = asked_ == 2;
    display_.show_note(force ? "Killing the run." : "Stopping after this step; once more kills the run.");
    try {
      wire::ControlClient(endpoints_, kAnswerTimeout)
          .request("run.stop", {{"run", run_.run}, {"force", force}, {"who", wire::requester("ringwright run, interrupted")}});
    } catch (const Error& error) {
      if (force && error.exit_code() == ExitCode::unreachable) throw;  // who asks twice wants to leave, also when the daemon hangs
      display_.show_note(describe(error.parts()));                     // the run may just have ended; the loop finds out
    }
  }

  // Events are published when they are recorded: a run looks as if it stood still while the history cannot be written.
  void look_at_the_history() {
    if (Clock::now() - heard_at_ < (store_error_ || asked_ > 0 ? kSilenceInTrouble : Clock::duration(kSilence))) return;
    heard_at_ = Clock::now();
    try {
      const nlohmann::json reply = wire::ControlClient(endpoints_, kStatusTimeout).request("status");
      const auto failing = reply.find("store_error");
      const bool fails = failing != reply.end() && failing->is_object();
      const bool new_trouble = fails && !store_error_;
      store_error_ = fails ? std::optional(error_parts_from_json(*failing)) : std::nullopt;
      if (new_trouble)
        display_.show_note("The history is not being written; what the run does is shown again when it is.\n" + describe(*store_error_));
      for (const nlohmann::json& state : reply.value("unrecorded", nlohmann::json::array()))
        if (state.value("run", "") == run_.run) add_unrecorded(state);
    } catch (const Error&) {  // the stream finds out
    }
  }

  // An end that the history cannot take now is told by the daemon alone.
  void add_unrecorded(nlohmann::json state) {
    if (!history::is_final(history::run_state_from_string(state.value("state", "")))) return;
    wire::Event event;
    event.run = run_.run;
    event.time_unix_ns = state.value("time_unix_ns", int64_t{0});
    event.body = std::move(state);
    event.body.update({{"name", "run.state"}, {"unrecorded", true}});
    add(event);
  }

  // A daemon that ends with its last run may be gone before its last words have arrived; the history has them.
  void read_the_rest() {
    const history::Reader reader(run_.store);
    for (const wire::Event& event :
         reader.events(std::max(progress_.node_sequence(), run_.after_sequence) + 1, std::numeric_limits<int64_t>::max(), kReplayedEventsMax))
      if (event.run == run_.run) add(event);
    if (!progress_.ended())
      throw Error({"RW-CLI-023", "the daemon is gone, and run " + run_.run + " had not ended", endpoints_.control, "a daemon that outlives its runs",
                   "its workers end by themselves; start a daemon to have the run marked, and see: ringwright runs show " + run_.run,
                   ExitCode::unreachable});
  }

  const FollowedRun& run_;
  const wire::Endpoints& endpoints_;
  RunDisplay& display_;
  RunProgress progress_;
  Inbox inbox_;
  int asked_ = 0, asked_signal_ = 0;
  Clock::time_point heard_at_ = Clock::now();
  std::optional<ErrorParts> store_error_;  // why the history is not being written
};

}  // namespace

int follow(const FollowedRun& run, const wire::Endpoints& endpoints, RunDisplay& display) { return Follower(run, endpoints, display).run(); }

}  // namespace ringwright::cli

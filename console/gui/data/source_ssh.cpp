#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <thread>

#include "console/gui/data/guarded.h"
#include "console/gui/data/remote_feed.h"
#include "console/gui/data/run_orders.h"
#include "console/gui/data/ssh_tunnel.h"
#include "shared/base/text.h"

namespace ringwright::gui {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStatusEvery{250};
constexpr std::array<int, 6> kRetrySeconds = {1, 2, 4, 8, 16, 30};

// The verbs that ask a daemon or its history, and so have to run where those are.
constexpr std::array<std::string_view, 13> kRemoteVerbs = {"runs", "logs",     "stop",    "pause", "resume", "checkpoint", "set",
                                                           "sql",  "relaunch", "history", "alert", "daemon", "fingerprint"};

bool belongs_there(std::string_view line) {
  constexpr std::string_view kProgram = "ringwright ";
  if (!line.starts_with(kProgram)) return false;
  line = line.substr(kProgram.size());
  return std::find(kRemoteVerbs.begin(), kRemoteVerbs.end(), line.substr(0, line.find(' '))) != kRemoteVerbs.end();
}

class SshSource : public Source {
 public:
  SshSource(UpdateQueue& queue, SshPlace place) : queue_(queue), place_(std::move(place)), tunnel_(place_) {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

  ~SshSource() override {
    thread_.request_stop();
    thread_.join();
    tell_undelivered(requests_);
  }

  void want_details(const std::string& run) override { requests_.add(Details{run}); }
  std::string why_no_orders() const override { return connected_ ? "" : place_.text() + " is not connected"; }
  void order(const std::string& run, Order order) override { requests_.add(RunOrder{run, order}); }
  std::string why_no_launch() const override {
    return "runs of " + place_.text() + " are started there: " + place_.command() + " ringwright run RECIPE";
  }
  std::string why_no_edits() const override { return "the history file is on " + place_.text() + ": change it there with ringwright runs"; }
  void edit(Edit) override {}
  std::filesystem::path history_file() override {
    throw Error({"RW-SSH-009", "the history file is on the other node", place_.text(), "a daemon or a file on this one",
                 "ask it there: " + place_.command() + " ringwright sql, or ringwright runs list QUERY", ExitCode::store});
  }
  int64_t now_unix_ns() const override { return wire::now_unix_ns(); }
  std::string cli_arguments() const override { return ""; }
  std::string command_here(const std::string& line) const override {
    return belongs_there(line) ? place_.command() + " " + text::shell_word(line) : line;
  }

 private:
  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      ++attempt_;
      push_link(was_connected_ ? LinkState::lost : LinkState::connecting);
      guarded(
          [&] {
            if (tunnel_.open(stop)) follow(stop);
          },
          [this](const ErrorParts& parts) { fail(parts); });
      connected_ = false;
      tunnel_.close();
      if (!stop.stop_requested()) wait_to_retry(stop);
    }
  }

  // Until ssh ends or the daemon falls silent.
  void follow(const std::stop_token& stop) {
    RemoteFeed feed(queue_, tunnel_.endpoints(), place_.text());
    const nlohmann::json hello = hello_of(feed);
    const auto there = hello.value("node_sequence", uint64_t{0});
    const uint64_t missed = was_connected_ && there > sequence_ ? there - sequence_ : 0;
    if (!was_connected_ || there < sequence_) {  // below: another history
      sequence_ = there;
      wanted_.merge(read_);
    }
    feed.read_runs();
    tunnel_since_unix_ns_ = wire::now_unix_ns();
    attempt_ = 0;
    told_.clear();
    trouble_.clear();
    // The stream ends before the feed that it hands its events to.
    wire::EventStream stream(tunnel_.endpoints(), sequence_, [&feed](const wire::Event& event) { feed.forward(event); });
    connected_ = was_connected_ = true;
    push_status(stream.status());
    for (const std::string& run : std::set(wanted_)) read_details(stop, run, &feed);
    if (missed > 0)
      queue_.push(
          Notice{Notice::Level::good, place_.text() + " is back", text::format_count(static_cast<int64_t>(missed)) + " events are caught up"});
    while (!stop.stop_requested()) {
      if (const auto request = requests_.next(stop, kStatusEvery)) serve(stop, *request, &feed);
      if (feed.take_unannounced()) feed.read_runs();
      const wire::EventStream::Status status = stream.status();
      push_status(status);
      if (!tunnel_.stands()) throw tunnel_.ended();
      if (status.connection == wire::EventStream::Connection::lost) throw silent();
    }
  }

  // A tunnel stands also where nothing is behind it.
  nlohmann::json hello_of(RemoteFeed& feed) const {
    try {
      return feed.hello();
    } catch (const Error& error) {
      if (error.exit_code() != ExitCode::unreachable) throw;
      throw silent();
    }
  }

  Error silent() const {
    return Error({"RW-SSH-004", "the tunnel stands, but no daemon answers behind it", place_.text(), "a running ringwrightd",
                  "look there: " + place_.command() + " ringwright daemon status", ExitCode::unreachable});
  }

  // The same trouble is told once, however often it is met.
  void fail(const ErrorParts& parts) {
    trouble_ = parts.what;
    if (std::exchange(told_, parts.what) == parts.what) return;
    if (!was_connected_) queue_.push(SourceFailed{parts});
    queue_.push(notice_of(parts));
  }

  void wait_to_retry(const std::stop_token& stop) {
    const auto index = std::min<size_t>(static_cast<size_t>(std::max(attempt_ - 1, 0)), kRetrySeconds.size() - 1);
    const auto wait = std::chrono::seconds(kRetrySeconds[index]);
    const auto until = std::chrono::steady_clock::now() + wait;
    retry_unix_ns_ = wire::now_unix_ns() + std::chrono::nanoseconds(wait).count();
    tunnel_since_unix_ns_ = 0;
    push_link(was_connected_ ? LinkState::lost : LinkState::connecting);
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < until)
      if (const auto request = requests_.next(stop, kStatusEvery)) serve(stop, *request, nullptr);
    retry_unix_ns_ = 0;
  }

  void serve(const std::stop_token& stop, const Request& request, RemoteFeed* feed) {
    if (const auto* details = std::get_if<Details>(&request)) {
      read_details(stop, details->run, feed);
    } else if (const auto* order = std::get_if<RunOrder>(&request)) {
      pass_on(queue_, *order, feed ? std::optional(tunnel_.endpoints()) : std::nullopt, "the console goes on trying to reach " + place_.text(), stop);
    }
  }

  // Once: what comes later comes live, or is caught up. One that fails is read again when the connection has come back.
  void read_details(const std::stop_token& stop, const std::string& run, RemoteFeed* feed) {
    wanted_.insert(run);
    guarded(
        [&] {
          if (!feed)
            throw Error({"RW-SSH-006", place_.text() + " is not connected", "", "", "it is read when the connection is back", ExitCode::unreachable});
          feed->read_details(run, stop);
          wanted_.erase(run);
          read_.insert(run);
        },
        [&](const ErrorParts& parts) { queue_.push(DetailsFailed{run, parts}); });
  }

  void push_status(const wire::EventStream::Status& status) {
    sequence_ = status.node_sequence;
    last_message_unix_ns_ = std::max(last_message_unix_ns_, status.last_message_unix_ns);
    gaps_ = status.gaps;
    repaired_ = status.repaired;
    push_link(link_state(status.connection));
    if (status.devices != devices_) queue_.push(DevicesRead{devices_ = status.devices});
  }

  void push_link(LinkState state) {
    Link link;
    link.state = state;
    link.place = place_.text();
    link.node_sequence = sequence_;
    link.gaps = gaps_;
    link.repaired = repaired_;
    link.last_message_unix_ns = last_message_unix_ns_;
    link.attempt = attempt_;
    link.retry_unix_ns = retry_unix_ns_;
    link.tunnel_since_unix_ns = tunnel_since_unix_ns_;
    link.trouble = trouble_;
    queue_.push(LinkChanged{link});
  }

  UpdateQueue& queue_;
  const SshPlace place_;
  SshTunnel tunnel_;  // the thread's, as what follows is
  std::atomic<bool> connected_{false};
  bool was_connected_ = false;
  int attempt_ = 0;
  std::set<std::string> wanted_, read_;  // runs whose details are to be read, and were
  std::string trouble_, told_;
  uint64_t sequence_ = 0, gaps_ = 0, repaired_ = 0;
  int64_t last_message_unix_ns_ = 0, retry_unix_ns_ = 0, tunnel_since_unix_ns_ = 0;
  std::shared_ptr<const wire::DeviceReport> devices_;
  Requests requests_;
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Source> make_ssh_source(UpdateQueue& queue, const std::string& address) {
  return std::make_unique<SshSource>(queue, ssh_place(address));
}

}  // namespace ringwright::gui

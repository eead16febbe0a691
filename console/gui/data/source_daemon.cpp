#include <atomic>
#include <thread>

#include "console/gui/data/guarded.h"
#include "console/gui/data/history_edits.h"
#include "console/gui/data/history_feed.h"
#include "console/gui/data/requests.h"
#include "console/gui/data/run_orders.h"
#include "shared/base/paths.h"
#include "shared/wire/control.h"

namespace ringwright::gui {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRetryEvery{3000};
constexpr milliseconds kStatusEvery{250};

class DaemonSource : public Source {
 public:
  explicit DaemonSource(UpdateQueue& queue) : queue_(queue) {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

  ~DaemonSource() override {
    thread_.request_stop();
    thread_.join();
    tell_undelivered(requests_);
  }

  void want_details(const std::string& run) override { requests_.add(Details{run}); }
  std::string why_no_orders() const override { return connected_ ? "" : "no daemon is connected"; }
  void order(const std::string& run, Order order) override { requests_.add(RunOrder{run, order}); }
  std::string why_no_edits() const override { return ""; }
  void edit(Edit edit) override { requests_.add(std::move(edit)); }
  std::filesystem::path history_file() override {
    const std::scoped_lock lock(store_mutex_);
    return store_;
  }
  int64_t now_unix_ns() const override { return wire::now_unix_ns(); }
  std::string cli_arguments() const override { return ""; }

 private:
  void work(const std::stop_token& stop) {
    const auto follow = [&] {
      const wire::Endpoints endpoints = wire::endpoints_in(paths::runtime_directory());
      const nlohmann::json hello = wire::ControlClient(endpoints, kAnswerTimeout).request("hello");
      follow_daemon(stop, endpoints, hello);
    };
    const auto fail = [this](const ErrorParts& parts) { queue_.push(SourceFailed{parts}); };
    const auto fail_to_follow = [&](const ErrorParts& parts) {
      connected_ = false;
      if (parts.exit_code != ExitCode::unreachable) fail(parts);
    };
    while (!stop.stop_requested()) {
      if (guarded(follow, fail_to_follow) || guarded([&] { wait_without_daemon(stop); }, fail)) continue;
      if (const auto request = requests_.next(stop, kRetryEvery)) guarded([&] { serve(stop, *request, {}); }, fail);
    }
  }

  void follow_daemon(const std::stop_token& stop, const wire::Endpoints& endpoints, const nlohmann::json& hello) {
    open_feed(hello.value("store", paths::default_store().string()));
    place_ = hello.value("node", "this node");
    uint64_t sequence = feed_->read_runs();
    for (const std::string& run : wanted_) feed_->read_details(run);
    wire::EventStream stream(endpoints, sequence, [feed = feed_](const wire::Event& event) { feed->forward(event); });
    connected_ = true;
    while (!stop.stop_requested()) {
      if (const auto request = requests_.next(stop, kStatusEvery)) serve(stop, *request, endpoints);
      const wire::EventStream::Status status = stream.status();
      push_link(link_state(status.connection), status);
      push_devices(status);
      connected_ = status.connection == wire::EventStream::Connection::connected || status.connection == wire::EventStream::Connection::stale;
      if (status.connection == wire::EventStream::Connection::lost) break;
    }
    connected_ = false;
    queue_.push(Notice{Notice::Level::warning, "The daemon is gone", "The history file stays readable; the console looks for a daemon every 3 s"});
  }

  // No daemon: the history file is shown, and followed in case another process writes it.
  void wait_without_daemon(const std::stop_token& stop) {
    if (!feed_) {
      if (!std::filesystem::exists(paths::default_store())) {
        queue_.push(RunsRead{});
      } else {
        open_feed(paths::default_store());
        sequence_ = feed_->read_runs();
      }
    }
    push_link(LinkState::local, {});
    const auto until = std::chrono::steady_clock::now() + kRetryEvery;
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) {
      if (const auto request = requests_.next(stop, kStatusEvery)) serve(stop, *request, {});
      if (feed_) sequence_ = feed_->catch_up(sequence_);
    }
  }

  void open_feed(const std::filesystem::path& file) {
    feed_.reset();
    {
      const std::scoped_lock lock(store_mutex_);
      store_ = file;
    }
    feed_ = std::make_shared<HistoryFeed>(queue_, file);
  }

  void serve(const std::stop_token& stop, const Request& request, const wire::Endpoints& endpoints) {
    if (const auto* details = std::get_if<Details>(&request)) {
      wanted_.insert(details->run);
      if (feed_) feed_->read_details(details->run);
    } else if (const auto* edit = std::get_if<Edit>(&request)) {
      edit_history(queue_, history_file(), *edit);
    } else if (const auto* order = std::get_if<RunOrder>(&request)) {
      pass_on(queue_, *order, endpoints.control.empty() ? std::nullopt : std::optional(endpoints), "ringwright daemon start", stop);
    }
  }

  void push_link(LinkState state, const wire::EventStream::Status& status) {
    Link link;
    link.state = state;
    link.place = state == LinkState::local ? "no daemon" : place_;
    link.node_sequence = std::max(status.node_sequence, state == LinkState::local ? sequence_ : 0);
    link.gaps = status.gaps;
    link.repaired = status.repaired;
    link.last_message_unix_ns = status.last_message_unix_ns;
    queue_.push(LinkChanged{link});
  }

  void push_devices(const wire::EventStream::Status& status) {
    if (status.last_message_unix_ns == 0 || status.devices == devices_) return;
    devices_ = status.devices;
    queue_.push(DevicesRead{devices_});
  }

  UpdateQueue& queue_;
  std::atomic<bool> connected_{false};
  std::shared_ptr<HistoryFeed> feed_;
  std::set<std::string> wanted_;
  std::string place_;
  std::mutex store_mutex_;
  std::filesystem::path store_ = paths::default_store();
  uint64_t sequence_ = 0;
  std::shared_ptr<const wire::DeviceReport> devices_;
  Requests requests_;
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Source> make_daemon_source(UpdateQueue& queue) { return std::make_unique<DaemonSource>(queue); }

}  // namespace ringwright::gui

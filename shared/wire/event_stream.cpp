#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>

#include "shared/base/error.h"
#include "shared/wire/control.h"
#include "shared/wire/control_socket.h"
#include "shared/wire/poll.h"

namespace ringwright::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFetchTimeout{5000};
constexpr milliseconds kTick{500};
constexpr int kFetchEventsMax = 2000;
constexpr size_t kDrainMax = 4096;  // messages taken in one go, before the clock is looked at again

class WakeFd {
 public:
  WakeFd() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~WakeFd() { ::close(fd_); }
  WakeFd(const WakeFd&) = delete;
  WakeFd& operator=(const WakeFd&) = delete;
  int get() const { return fd_; }
  void wake() { ::eventfd_write(fd_, 1); }

 private:
  int fd_;
};

}  // namespace

struct EventStream::Impl {
  Impl(const Endpoints& endpoints, uint64_t after, std::function<void(const Event&)> deliver, std::string run)
      : endpoints(endpoints),
        deliver(std::move(deliver)),
        run(std::move(run)),
        control(context, endpoints.control),
        events(context, zmq::socket_type::sub),
        last(after) {
    known.node_sequence = after;
    events.set(zmq::sockopt::linger, 0);
    events.set(zmq::sockopt::subscribe, "");
    events.connect(endpoints.events);
    thread = std::thread([this] { loop(); });
  }

  ~Impl() {
    wake.wake();  // never read: from now on every wait and every request gives up at once
    thread.join();
  }

  void loop() {
    zmq::pollitem_t items[] = {{events.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, wake.get(), ZMQ_POLLIN, 0}};
    while (true) {
      poll(items, 2, kTick);
      if (items[1].revents & ZMQ_POLLIN) return;
      for (size_t taken = 0; taken < kDrainMax && receive_one(); ++taken) {
      }
      if (last < wanted && steady_clock::now() >= retry_at) fetch_up_to(wanted);
      look_for_closed();
    }
  }

  bool receive_one() {
    zmq::message_t topic, second, third;
    if (!events.recv(topic, zmq::recv_flags::dontwait)) return false;
    const bool two = topic.more() && events.recv(second).has_value();
    const bool three = two && second.more() && events.recv(third).has_value();
    for (bool more = three && third.more(); more;) {
      zmq::message_t rest;
      more = events.recv(rest).has_value() && rest.more();
    }
    try {
      if (three)
        take_event(topic.to_string(), second.to_string_view(), third.to_string_view());
      else if (two && topic.to_string_view() == kWelcomeTopic)
        take_welcome(decode_body(second.to_string_view()));
    } catch (const Error&) {
      // Damaged or of another version: its number stays missing, so it is asked for from the store.
    }
    return true;
  }

  void heard() {
    const std::lock_guard lock(mutex);
    known.last_message_unix_ns = now_unix_ns();
    heard_at = steady_clock::now();
    closed = false;
  }

  void take_welcome(const nlohmann::json& welcome) {
    heard();
    take_devices(welcome);
    const auto number = welcome.value("node_sequence", uint64_t{0});
    const auto started = welcome.value("started_unix_ns", int64_t{0});
    if (daemon_started != 0 && started != daemon_started && number < last) set_last(number);  // another daemon with another store
    const bool first = daemon_started == 0;
    daemon_started = started;
    if (number <= last) return;
    if (!first && number > wanted) count_gap(number - std::max(last, wanted));
    wanted = std::max(wanted, number);
  }

  // An older daemon sends none.
  void take_devices(const nlohmann::json& welcome) {
    const auto found = welcome.find("devices");
    if (found == welcome.end() || !found->is_object()) return;
    auto devices = std::make_shared<const DeviceReport>(device_report_from_json(*found, now_unix_ns()));
    const std::lock_guard lock(mutex);
    known.devices = std::move(devices);
  }

  void take_event(std::string topic, std::string_view header, std::string_view body) {
    heard();
    Event event;
    decode_header(header, event);
    const uint64_t number = event.node_sequence;
    if (number <= last) return;
    if (number > last + 1) {
      if (number - 1 > wanted) count_gap(number - 1 - std::max(last, wanted));
      wanted = std::max(wanted, number - 1);
      if (steady_clock::now() < retry_at || !fetch_up_to(number - 1)) {
        wanted = std::max(wanted, number);  // this one is fetched with the others
        return;
      }
    }
    event.run = std::move(topic);
    event.body = decode_body(body);
    hand_over(event);
    set_last(number);
  }

  void count_gap(uint64_t count) {
    const std::lock_guard lock(mutex);
    known.gaps += count;
  }

  // Whether everything up to `number` has been delivered (or is gone from the journal).
  bool fetch_up_to(uint64_t number) {
    try {
      while (last < number) {
        nlohmann::json arguments = {{"from", last + 1}, {"to", number}, {"limit", kFetchEventsMax}};
        if (!run.empty()) arguments["run"] = run;
        if (!take_range(control.request("events.range", std::move(arguments), kFetchTimeout, wake.get()))) break;
      }
    } catch (const std::exception&) {
      // Not reached, or damaged on the way: tried again at the next tick.
    }
    if (last < number) retry_at = steady_clock::now() + kTick;
    return last >= number;
  }

  // Whether it brought us on.
  bool take_range(const nlohmann::json& reply) {
    const uint64_t before = last;
    for (const nlohmann::json& frames : reply.at("events")) {
      const Event event = event_from_frames(frames);
      if (event.node_sequence <= last) continue;
      hand_over(event);
      set_last(event.node_sequence);
    }
    const auto next = reply.at("next").get<uint64_t>();
    if (next > last + 1) set_last(next - 1);
    const uint64_t oldest = reply.value("oldest", uint64_t{0});
    const uint64_t pruned = oldest > before + 1 ? std::min(oldest - 1, last) - before : 0;
    const std::lock_guard lock(mutex);
    known.repaired = std::min(known.gaps, known.repaired + (last - before - pruned));
    return last > before;
  }

  void hand_over(const Event& event) {
    if (run.empty() || event.run == run) deliver(event);
  }

  void set_last(uint64_t number) {
    last = number;
    const std::lock_guard lock(mutex);
    known.node_sequence = number;
  }

  void look_for_closed() {
    const auto now = steady_clock::now();
    if (now < probe_at) return;
    probe_at = now + std::chrono::seconds(1);
    {
      const std::lock_guard lock(mutex);
      if (now - heard_at < kStaleAfter) return;
    }
    const bool nobody = !somebody_listens(endpoints.control);
    const std::lock_guard lock(mutex);
    closed = nobody;
  }

  Status status() const {
    const std::lock_guard lock(mutex);
    Status status = known;
    const auto age = steady_clock::now() - heard_at;
    if (known.last_message_unix_ns == 0)
      status.connection = Connection::connecting;
    else if (closed || age >= kLostAfter)
      status.connection = Connection::lost;
    else
      status.connection = age >= kStaleAfter ? Connection::stale : Connection::connected;
    return status;
  }

  const Endpoints endpoints;
  const std::function<void(const Event&)> deliver;
  const std::string run;
  WakeFd wake;
  zmq::context_t context;
  ControlSocket control;
  zmq::socket_t events;
  uint64_t last;        // delivered up to here
  uint64_t wanted = 0;  // known to exist up to here
  int64_t daemon_started = 0;
  steady_clock::time_point retry_at{}, probe_at{};

  mutable std::mutex mutex;  // guards what follows
  Status known;
  steady_clock::time_point heard_at = steady_clock::now();
  bool closed = false;

  std::thread thread;
};

EventStream::EventStream(const Endpoints& endpoints, uint64_t after, std::function<void(const Event&)> deliver, std::string run)
    : impl_(std::make_unique<Impl>(endpoints, after, std::move(deliver), std::move(run))) {}

EventStream::~EventStream() = default;

EventStream::Status EventStream::status() const { return impl_->status(); }

}  // namespace ringwright::wire

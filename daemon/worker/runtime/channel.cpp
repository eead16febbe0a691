#include "daemon/worker/runtime/channel.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <zmq.hpp>

#include "daemon/worker/runtime/orphan_watch.h"
#include "shared/base/error.h"
#include "shared/wire/message.h"
#include "shared/wire/poll.h"
#include "shared/wire/steering.h"

namespace ringwright::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kTick{200};
constexpr auto kHeartbeatEvery = std::chrono::seconds(1);
constexpr size_t kSendBatchMax = 256;

uint64_t resident_bytes() {
  unsigned long total = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lu %lu", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return uint64_t{resident} * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::filesystem::path last_words_file(const ChannelOptions& options) {
  return options.directory.empty() ? "" : options.directory / ("rank" + std::to_string(options.rank) + ".log");
}

struct Outgoing {
  uint64_t sequence;
  std::string header, body;
};

}  // namespace

struct Channel::Impl {
  explicit Impl(ChannelOptions given)
      : options(std::move(given)),
        wake_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        orphan(options.orphan_grace_s, last_words_file(options)),
        socket(context, zmq::socket_type::dealer) {
    if (wake_fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    std::signal(SIGPIPE, SIG_IGN);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::routing_id, options.run + "/" + std::to_string(options.rank));
    socket.connect(options.endpoint);
    thread = std::thread([this] { loop(); });
  }

  ~Impl() {
    stop_thread = true;
    ::eventfd_write(wake_fd, 1);
    thread.join();
    ::close(wake_fd);
  }

  bool full() const { return kept.size() >= options.unacknowledged_events_max || kept_bytes >= options.unacknowledged_bytes_max; }

  // `wait` false: gives up instead, when too much is unacknowledged. Returns whether it was queued.
  bool push(wire::Kind kind, const nlohmann::json& body, bool wait = true) {
    std::string frame = wire::encode_body(body);
    if (frame.size() > wire::kBodyBytesMax)
      throw Error({"RW-WIRE-005", "an event of " + std::to_string(frame.size()) + " bytes is too large", body.value("name", ""),
                   "at most " + std::to_string(wire::kBodyBytesMax) + " bytes", "write large things into a file and send its path",
                   ExitCode::run_failed});
    std::unique_lock lock(mutex);
    if (full()) {
      if (!wait) return false;
      ++counters.waits;
      room.wait(lock, [this] { return !full(); });
    }
    wire::Event event;
    event.kind = kind;
    event.rank = options.rank;
    event.worker_sequence = ++last_sequence;
    event.time_unix_ns = wire::now_unix_ns();
    kept_bytes += frame.size();
    const bool was_idle = sent_sequence + 1 == last_sequence;
    kept.push_back({last_sequence, wire::encode_header(event), std::move(frame)});
    lock.unlock();
    if (was_idle) ::eventfd_write(wake_fd, 1);
    return true;
  }

  void loop() {
    steady_clock::time_point heartbeat_at = steady_clock::now();
    zmq::pollitem_t items[] = {{socket.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, wake_fd, ZMQ_POLLIN, 0}};
    while (!stop_thread) {
      if (steady_clock::now() >= heartbeat_at) {
        heartbeat();
        heartbeat_at = steady_clock::now() + kHeartbeatEvery;
      }
      items[0].events = static_cast<short>(ZMQ_POLLIN | (send_some() ? ZMQ_POLLOUT : 0));
      wire::poll(items, 2, kTick);
      eventfd_t ignored;
      if (items[1].revents & ZMQ_POLLIN) ::eventfd_read(wake_fd, &ignored);
      receive_all();
      watch_daemon();
    }
  }

  // Whether something is left to send.
  bool send_some() {
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < kSendBatchMax && sent_sequence < last_sequence; ++i) {
      const Outgoing& next = kept[kept.size() - (last_sequence - sent_sequence)];
      if (!socket.send(zmq::buffer(options.run), zmq::send_flags::sndmore | zmq::send_flags::dontwait)) break;
      socket.send(zmq::buffer(next.header), zmq::send_flags::sndmore);
      socket.send(zmq::buffer(next.body), zmq::send_flags::none);
      ++sent_sequence;
      ++counters.sent;
    }
    return sent_sequence < last_sequence;
  }

  void receive_all() {
    zmq::message_t frame;
    while (socket.recv(frame, zmq::recv_flags::dontwait)) {
      try {
        const nlohmann::json message = wire::decode_body(frame.to_string_view());
        const std::string op = message.value("op", "");
        if (op == "ack") acknowledged(message.value("sequence", uint64_t{0}));
        take_word(op, message);
        orphan.pinged();  // any word from the daemon is a sign of life
      } catch (const std::exception&) {
        // Damaged: not from our daemon.
      }
    }
  }

  void take_word(const std::string& op, const nlohmann::json& message) {
    const std::lock_guard lock(wishes_mutex);
    if (op == "stop")
      (message.value("after", "") == "checkpoint" ? wishes.stop_after_checkpoint : wishes.stop) = true;
    else if (op == "pause" || op == "resume")
      wishes.pause = op == "pause";
    else if (op == "checkpoint")
      wishes.checkpoint = true;
    else if (op == "set") {
      const wire::Setting setting = wire::make_setting(message.value("key", ""), message.value("value", 0.0));
      wishes.settings.at(setting.key) = setting.value;
    } else
      return;
    ++words;
    word.notify_all();
  }

  void acknowledged(uint64_t sequence) {
    const std::lock_guard lock(mutex);
    while (!kept.empty() && kept.front().sequence <= std::min(sequence, sent_sequence)) {
      kept_bytes -= kept.front().body.size();
      kept.pop_front();
      ++counters.acknowledged;
    }
    room.notify_all();
  }

  void watch_daemon() {
    orphan.check();
    if (!orphan.daemon_gone() || gone) return;
    const std::lock_guard lock(mutex);
    gone = true;
    room.notify_all();
  }

  void heartbeat() {
    const nlohmann::json body = {{"step", last_step.load()}, {"resident_bytes", resident_bytes()}, {"cpu_seconds", cpu_seconds()}};
    if (push(wire::Kind::heartbeat, body, false)) return;
    const std::lock_guard lock(mutex);
    ++counters.heartbeats_skipped;
  }

  bool finish() {
    std::unique_lock lock(mutex);
    room.wait(lock, [this] { return kept.empty() || gone; });
    return kept.empty();
  }

  const ChannelOptions options;
  const int wake_fd;
  OrphanWatch orphan;  // the thread's own
  zmq::context_t context;
  zmq::socket_t socket;
  std::atomic<bool> stop_thread{false}, gone{false};
  std::atomic<int64_t> last_step{-1};

  mutable std::mutex wishes_mutex;  // guards the next four
  std::condition_variable word;
  Wishes wishes{.settings = std::vector<std::optional<double>>(wire::settable_keys().size())};
  uint64_t words = 0, words_taken = 0;

  mutable std::mutex mutex;  // guards what follows
  std::condition_variable room;
  std::deque<Outgoing> kept;  // unacknowledged, in order of their numbers
  size_t kept_bytes = 0;
  uint64_t last_sequence = 0, sent_sequence = 0;
  Counters counters;

  std::thread thread;
};

Channel::Channel(ChannelOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Channel::~Channel() = default;

void Channel::metric(int64_t step, int64_t tokens, const MetricPoints& points) {
  nlohmann::json values = nlohmann::json::object();
  for (const auto& [name, value] : points) values[name] = value;
  impl_->last_step = std::max(impl_->last_step.load(), step);
  impl_->push(wire::Kind::metric, {{"step", step}, {"tokens", tokens}, {"points", std::move(values)}});
}

void Channel::log(std::string_view level, std::string text) { impl_->push(wire::Kind::log, {{"level", level}, {"text", std::move(text)}}); }

void Channel::event(std::string_view name, nlohmann::json fields) {
  fields["name"] = name;
  impl_->push(wire::Kind::event, fields);
}

void Channel::span(std::string_view phase, int64_t step, int64_t begin_ns, int64_t end_ns) {
  impl_->push(wire::Kind::span, {{"phase", phase}, {"step", step}, {"begin_ns", begin_ns}, {"end_ns", end_ns}});
}

void Channel::sample(int64_t step, nlohmann::json fields) {
  fields["step"] = step;
  impl_->push(wire::Kind::sample, fields);
}

bool Channel::stop_requested() const {
  const std::lock_guard lock(impl_->wishes_mutex);
  return impl_->wishes.stop;
}

bool Channel::pause_requested() const {
  const std::lock_guard lock(impl_->wishes_mutex);
  return impl_->wishes.pause;
}

Wishes Channel::take_wishes() {
  const std::lock_guard lock(impl_->wishes_mutex);
  Wishes taken = impl_->wishes;
  impl_->wishes.checkpoint = false;
  impl_->wishes.settings.assign(taken.settings.size(), std::nullopt);
  impl_->words_taken = impl_->words;
  return taken;
}

void Channel::wait_for_word(std::chrono::milliseconds timeout) {
  std::unique_lock lock(impl_->wishes_mutex);
  impl_->word.wait_for(lock, timeout, [this] { return impl_->words != impl_->words_taken; });
  impl_->words_taken = impl_->words;
}

bool Channel::finish() { return impl_->finish(); }

Channel::Counters Channel::counters() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counters;
}

}  // namespace ringwright::worker

#include "tests/shared/wire/small_daemon.h"

#include <stdlib.h>

#include <stdexcept>
#include <tuple>

namespace ringwright::wire {

SmallDaemon::SmallDaemon(const Endpoints& endpoints) : control_(context_, zmq::socket_type::router), events_(context_, zmq::socket_type::xpub) {
  control_.set(zmq::sockopt::linger, 0);
  events_.set(zmq::sockopt::linger, 0);
  events_.set(zmq::sockopt::xpub_verbose, 1);
  control_.bind(endpoints.control);
  events_.bind(endpoints.events);
  thread_ = std::thread([this] { loop(); });
}

SmallDaemon::~SmallDaemon() {
  stop_ = true;
  thread_.join();
}

void SmallDaemon::publish(size_t count, size_t padding_bytes, const std::string& run) {
  const std::lock_guard lock(mutex_);
  commands_.push_back({count, padding_bytes, run, true});
}

void SmallDaemon::lose(size_t count) {
  const std::lock_guard lock(mutex_);
  commands_.push_back({count, 0, "r_00000001", false});
}

void SmallDaemon::loop() {
  auto welcome_at = std::chrono::steady_clock::now();
  zmq::pollitem_t items[] = {{control_.handle(), 0, ZMQ_POLLIN, 0}, {events_.handle(), 0, ZMQ_POLLIN, 0}};
  while (!stop_) {
    zmq::poll(items, 2, std::chrono::milliseconds(2));
    zmq::message_t subscription;
    bool tell = std::chrono::steady_clock::now() >= welcome_at;
    while (events_.recv(subscription, zmq::recv_flags::dontwait)) tell = true;
    take_commands();
    if (tell) {
      welcome();
      welcome_at = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    }
    answer();
  }
}

void SmallDaemon::take_commands() {
  std::vector<Command> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (const Command& command : commands)
    for (size_t i = 0; i < command.count; ++i) {
      Event event;
      event.run = command.run;
      event.kind = Kind::event;
      event.node_sequence = stored_.size() + 1;
      event.body = {{"name", "number"}, {"number", event.node_sequence}, {"padding", std::string(command.padding_bytes, 'x')}};
      if (command.send) {
        events_.send(zmq::buffer(event.run), zmq::send_flags::sndmore);
        events_.send(zmq::buffer(encode_header(event)), zmq::send_flags::sndmore);
        events_.send(zmq::buffer(encode_body(event.body)), zmq::send_flags::none);
      }
      stored_.push_back(std::move(event));
    }
}

void SmallDaemon::welcome() {
  events_.send(zmq::str_buffer("welcome"), zmq::send_flags::sndmore);
  nlohmann::json body = {{"version", kProtocolVersion}, {"node_sequence", stored_.size()}, {"started_unix_ns", 1}};
  {
    const std::lock_guard lock(mutex_);
    if (!devices_.is_null()) body["devices"] = devices_;
  }
  events_.send(zmq::buffer(encode_body(body)), zmq::send_flags::none);
}

void SmallDaemon::answer() {
  zmq::message_t identity, frame;
  while (control_.recv(identity, zmq::recv_flags::dontwait) && control_.recv(frame)) waiting_.emplace_back(std::move(identity), std::move(frame));
  // Asked after a request is in, so one that was sent after set_answering(false) is not answered.
  for (; answering_ && !waiting_.empty(); waiting_.pop_front()) {
    std::tie(identity, frame) = std::move(waiting_.front());
    ++requests_;
    const nlohmann::json request = decode_body(frame.to_string_view());
    nlohmann::json reply = {{"ok", true}};
    if (request["op"] == "events.range") reply = range(request);
    if (request["op"] == "refuse")
      reply = {{"ok", false}, {"error", to_json(ErrorParts{"RW-MESH-002", "12 is not 8", "cp", "8", "use 8", ExitCode::refused})}};
    reply["version"] = request["op"] == "old" ? 99 : static_cast<int>(kProtocolVersion);
    reply["id"] = request["id"];
    control_.send(identity, zmq::send_flags::sndmore);
    control_.send(zmq::buffer(encode_body(reply)), zmq::send_flags::none);
  }
}

nlohmann::json SmallDaemon::range(const nlohmann::json& request) const {
  nlohmann::json events = nlohmann::json::array();
  const auto from = request["from"].get<uint64_t>();
  const uint64_t to = std::min({request["to"].get<uint64_t>(), uint64_t{stored_.size()}, from + request["limit"].get<uint64_t>() - 1});
  const auto binary = [](const std::string& text) { return nlohmann::json::binary({text.begin(), text.end()}); };
  for (uint64_t number = from; number <= to; ++number) {
    const Event& event = stored_[number - 1];
    events.push_back({event.run, binary(encode_header(event)), binary(encode_body(event.body))});
  }
  return {{"ok", true}, {"events", std::move(events)}, {"next", to + 1}, {"oldest", 1}};
}

}  // namespace ringwright::wire

#include "daemon/service/event_hub.h"

#include "shared/wire/control.h"

namespace ringwright::service {
namespace {

constexpr int kQueueMessagesMax = 1000;  // for each subscriber
constexpr int kLinger_ms = 500;          // the last events of the last run still go out when the daemon ends

}  // namespace

EventHub::EventHub(zmq::context_t& context, const std::string& endpoint, uint64_t node_sequence, int64_t started_unix_ns)
    : endpoint_(endpoint), socket_(context, zmq::socket_type::xpub), node_sequence_(node_sequence), started_unix_ns_(started_unix_ns) {
  socket_.set(zmq::sockopt::linger, kLinger_ms);
  socket_.set(zmq::sockopt::sndhwm, kQueueMessagesMax);
  socket_.set(zmq::sockopt::xpub_verbose, 1);  // each subscription is told to us, so that each subscriber is greeted
  bind();
}

void EventHub::publish(const wire::Event& event) {
  const std::string header = wire::encode_header(event);
  std::string buffer;
  const std::string_view body = wire::body_frame_of(event, buffer);
  socket_.send(zmq::buffer(event.run), zmq::send_flags::sndmore);
  socket_.send(zmq::buffer(header), zmq::send_flags::sndmore);
  socket_.send(zmq::buffer(body), zmq::send_flags::none);
  node_sequence_ = event.node_sequence;
}

void EventHub::take_subscriptions() {
  zmq::message_t frame;
  bool greet = false;
  while (socket_.recv(frame, zmq::recv_flags::dontwait)) greet |= frame.size() > 0 && frame.data<char>()[0] == 1;
  if (greet) welcome();
}

void EventHub::welcome() {
  const std::string body = wire::encode_body(
      {{"version", wire::kProtocolVersion}, {"node_sequence", node_sequence_}, {"started_unix_ns", started_unix_ns_}, {"devices", devices_}});
  socket_.send(zmq::buffer(std::string_view(wire::kWelcomeTopic)), zmq::send_flags::sndmore);
  socket_.send(zmq::buffer(body), zmq::send_flags::none);
}

}  // namespace ringwright::service

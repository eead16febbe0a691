#include "daemon/service/worker_link.h"

#include <charconv>

#include "shared/base/error.h"

namespace ringwright::service {
namespace {

// "r_0badcafe/3"
bool parse_identity(std::string_view identity, wire::Event& event) {
  const size_t slash = identity.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return false;
  int rank = -1;
  const auto [end, failure] = std::from_chars(identity.data() + slash + 1, identity.data() + identity.size(), rank);
  if (failure != std::errc() || end != identity.data() + identity.size() || rank < 0) return false;
  event.run = identity.substr(0, slash);
  event.rank = rank;
  return true;
}

}  // namespace

WorkerLink::WorkerLink(zmq::context_t& context, const std::string& endpoint) : endpoint_(endpoint), socket_(context, zmq::socket_type::router) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<int64_t>(wire::kBodyBytesMax));
  bind();
}

bool WorkerLink::receive(wire::Event& event) {
  while (true) {
    zmq::message_t identity, frames[3];
    if (!socket_.recv(identity, zmq::recv_flags::dontwait)) return false;
    size_t count = 0;
    for (bool more = identity.more(); more;) {
      zmq::message_t surplus;
      zmq::message_t& frame = count < 3 ? frames[count] : surplus;
      ++count;
      if (!socket_.recv(frame)) return false;
      more = frame.more();
    }
    if (count == 3 && read(identity, frames[1], frames[2], event)) return true;
    ++damaged_count_;
  }
}

bool WorkerLink::read(const zmq::message_t& identity, const zmq::message_t& header, const zmq::message_t& body, wire::Event& event) const {
  try {
    wire::decode_header(header.to_string_view(), event);
    event.body = wire::decode_body(body.to_string_view());
    event.body_frame = body.to_string();
    event.node_sequence = 0;
    return event.worker_sequence > 0 && parse_identity(identity.to_string_view(), event);
  } catch (const Error&) {
    return false;
  }
}

void WorkerLink::send(const std::string& run, int rank, const nlohmann::json& message) {
  const std::string identity = run + "/" + std::to_string(rank), frame = wire::encode_body(message);
  if (!socket_.send(zmq::buffer(identity), zmq::send_flags::sndmore | zmq::send_flags::dontwait)) return;
  (void)socket_.send(zmq::buffer(frame), zmq::send_flags::dontwait);
}

}  // namespace ringwright::service

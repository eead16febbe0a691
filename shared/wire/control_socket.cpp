#include "shared/wire/control_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "shared/base/error.h"
#include "shared/wire/message.h"
#include "shared/wire/poll.h"

namespace ringwright::wire {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kIpc = "ipc://";
constexpr int kLinger_ms = 500;
constexpr int kQueueMax = 1000;

Error unreachable(const std::string& what, const std::string& endpoint, const std::string& action) {
  return Error({"RW-DAEMON-001", what, endpoint, "a running ringwrightd", action, ExitCode::unreachable});
}
constexpr const char* kStartOne = "start one with `ringwright daemon start`; `ringwright run` starts one by itself";
constexpr const char* kLookAtIt = "look into its log, ringwrightd.log beside the history; if it hangs, end its process and start another";

nlohmann::json checked_reply(const nlohmann::json& reply) {
  const int64_t version = reply.value("version", int64_t{0});
  if (reply.value("ok", false)) {
    if (version != kProtocolVersion) throw version_mismatch(version);
    return reply;
  }
  if (reply.contains("error")) throw Error(error_parts_from_json(reply.at("error")));
  if (version != kProtocolVersion) throw version_mismatch(version);
  throw Error({"RW-WIRE-004", "the daemon refused without a reason", "", "", "look into the daemon's log", ExitCode::run_failed});
}

}  // namespace

bool somebody_listens(const std::string& endpoint) {
  if (!endpoint.starts_with(kIpc)) return true;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = endpoint.substr(kIpc.size());
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return true;
  const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const bool listens = result == 0 || (errno != ENOENT && errno != ECONNREFUSED);
  ::close(fd);
  return listens;
}

ControlSocket::ControlSocket(zmq::context_t& context, std::string endpoint)
    : endpoint_(std::move(endpoint)), socket_(context, zmq::socket_type::dealer) {
  socket_.set(zmq::sockopt::linger, kLinger_ms);
  socket_.set(zmq::sockopt::sndhwm, kQueueMax);
  socket_.set(zmq::sockopt::rcvhwm, kQueueMax);
  socket_.connect(endpoint_);
}

void ControlSocket::send(const nlohmann::json& request, const std::string& op, std::chrono::milliseconds timeout) {
  if (!somebody_listens(endpoint_)) throw unreachable("no daemon listens; `" + op + "` was not delivered", endpoint_, kStartOne);
  const std::string frame = encode_body(request);
  socket_.set(zmq::sockopt::sndtimeo, static_cast<int>(timeout.count()));
  if (!socket_.send(zmq::buffer(frame))) throw unreachable("the daemon takes no more commands; `" + op + "` was not delivered", endpoint_, kLookAtIt);
}

nlohmann::json ControlSocket::request(const std::string& op, nlohmann::json arguments, std::chrono::milliseconds timeout, int cancel_fd) {
  const auto deadline = steady_clock::now() + timeout;
  arguments["version"] = kProtocolVersion;
  arguments["id"] = ++last_id_;
  arguments["op"] = op;
  send(arguments, op, timeout);
  zmq::pollitem_t items[] = {{socket_.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, cancel_fd, ZMQ_POLLIN, 0}};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) break;
    poll(items, cancel_fd >= 0 ? 2u : 1u, left);
    if (cancel_fd >= 0 && (items[1].revents & ZMQ_POLLIN)) break;
    zmq::message_t frame;
    if (!(items[0].revents & ZMQ_POLLIN) || !socket_.recv(frame, zmq::recv_flags::dontwait)) continue;
    const nlohmann::json reply = decode_body(frame.to_string_view());
    if (reply.value("id", uint64_t{0}) == last_id_) return checked_reply(reply);  // else: the late answer to a request that was given up
  }
  socket_.set(zmq::sockopt::linger, 0);  // what it has not taken by now would hold us up once more when we close
  throw unreachable("the daemon does not answer; whether it did `" + op + "` is not known", endpoint_, kLookAtIt);
}

}  // namespace ringwright::wire

#include "shared/base/paths.h"
#include "shared/wire/control.h"
#include "shared/wire/control_socket.h"

namespace ringwright::wire {

Endpoints endpoints_in(const std::filesystem::path& runtime_directory) {
  return {paths::ipc_endpoint(runtime_directory / "control.sock"), paths::ipc_endpoint(runtime_directory / "events.sock"),
          paths::ipc_endpoint(runtime_directory / "workers.sock")};
}

struct ControlClient::Impl {
  Impl(const std::string& endpoint, std::chrono::milliseconds timeout) : socket(context, endpoint), timeout(timeout) {}

  zmq::context_t context;
  ControlSocket socket;  // closed before the context
  std::chrono::milliseconds timeout;
};

ControlClient::ControlClient(const Endpoints& endpoints, std::chrono::milliseconds timeout)
    : impl_(std::make_unique<Impl>(endpoints.control, timeout)) {}

ControlClient::~ControlClient() = default;

nlohmann::json ControlClient::request(const std::string& op, nlohmann::json arguments) {
  return impl_->socket.request(op, std::move(arguments), impl_->timeout);
}

}  // namespace ringwright::wire

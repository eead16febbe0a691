#include "console/gui/data/run_orders.h"

#include <array>
#include <iostream>

#include "console/gui/data/guarded.h"
#include "shared/wire/requester.h"

namespace ringwright::gui {
namespace {

struct OrderEntry {
  const char* operation;
  const char* mode;
  std::string done;
};
// In the order of Order.
const std::array<OrderEntry, 6> kOrders = {{{"run.stop", "", "stopped"},
                                            {"run.stop", "after-checkpoint", "stopped after a checkpoint"},
                                            {"run.stop", "", "killed"},
                                            {"run.pause", "", "paused"},
                                            {"run.resume", "", "resumed"},
                                            {"run.checkpoint", "", "asked for a checkpoint"}}};

void tell_terminal(const std::string& text) { std::cerr << "ringwright-console: " + text + "\n"; }

}  // namespace

void pass_on(UpdateQueue& queue, const RunOrder& order, const std::optional<wire::Endpoints>& endpoints, const std::string& how_to_get_one,
             const std::stop_token& stop) {
  if (!endpoints) {
    queue.push(Notice{Notice::Level::error, order.run + ": not delivered, no daemon is connected", how_to_get_one});
    return;
  }
  const OrderEntry& entry = kOrders.at(static_cast<size_t>(order.order));
  const auto deliver = [&] {
    nlohmann::json arguments = {{"run", order.run}, {"who", wire::requester("console")}};
    if (std::string_view(entry.operation) == "run.stop") arguments["force"] = order.order == Order::kill;
    if (*entry.mode != 0) arguments["mode"] = entry.mode;
    const nlohmann::json reply = wire::ControlClient(*endpoints, kAnswerTimeout).request(entry.operation, std::move(arguments));
    queue.push(Notice{Notice::Level::good, order.run + ": " + reply.value("state", entry.done), ""});
  };
  guarded(deliver, [&](const ErrorParts& parts) {
    const std::string text = order.run + ": not " + entry.done + ". " + parts.what;
    queue.push(Notice{Notice::Level::error, text, parts.action});
    if (stop.stop_requested()) tell_terminal(text);
  });
}

void tell_undelivered(Requests& requests) {
  for (const Request& request : requests.rest())
    if (const auto* order = std::get_if<RunOrder>(&request)) tell_terminal(order->run + ": not delivered, the console was closed");
}

LinkState link_state(wire::EventStream::Connection connection) {
  static constexpr LinkState states[] = {LinkState::connecting, LinkState::connected, LinkState::stale, LinkState::lost};
  return states[static_cast<size_t>(connection)];
}

}  // namespace ringwright::gui

#include "daemon/service/control_server.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>

#include "shared/base/error.h"
#include "shared/base/host.h"
#include "shared/base/text.h"
#include "shared/wire/control.h"

namespace ringwright::service {
namespace {

constexpr int kRequestsMax = 64;
constexpr int kQueueMax = 1000;
constexpr int kLinger_ms = 500;
constexpr int64_t kRequestBytesMax = 16 << 20;
constexpr size_t kRangeEventsMax = 2000;
constexpr size_t kRangeScanMax = 20'000;  // looked at for one answer, when only one run's are wanted
constexpr size_t kRangeSlice = 128;       // read at once
constexpr size_t kRangeBytesMax = size_t{8} << 20;

nlohmann::json binary(const std::string& bytes) { return nlohmann::json::binary({bytes.begin(), bytes.end()}); }

nlohmann::json run_to_json(const history::RunRecord& run) {
  return {{"run", run.id},
          {"name", run.name},
          {"algorithm", run.algorithm},
          {"state", history::to_string(run.state)},
          {"reason", run.reason},
          {"world_size", run.world_size},
          {"mesh", run.mesh},
          {"created_unix_ns", run.created_unix_ns},
          {"started_unix_ns", run.started_unix_ns},
          {"ended_unix_ns", run.ended_unix_ns},
          {"failed_rank", run.failed_rank},
          {"last_step", run.last_step},
          {"color_index", run.color_index},
          {"segment", run.segment},
          {"archived", run.archived},
          {"tags", run.tags},
          {"recipe_path", run.recipe_path}};
}

Error bad_request(const std::string& why) {
  return Error({"RW-WIRE-006", "the request cannot be understood: " + why, "", "see shared/wire/control.h", "use a client of this release"});
}

}  // namespace

const ControlServer::Operation ControlServer::kOperations[] = {{"hello", &ControlServer::hello},
                                                               {"status", &ControlServer::status},
                                                               {"run.launch", &ControlServer::run_launch},
                                                               {"run.stop", &ControlServer::run_stop},
                                                               {"run.pause", &ControlServer::run_steer},
                                                               {"run.resume", &ControlServer::run_steer},
                                                               {"run.checkpoint", &ControlServer::run_steer},
                                                               {"run.set", &ControlServer::run_steer},
                                                               {"run.list", &ControlServer::run_list},
                                                               {"snapshot", &ControlServer::snapshot},
                                                               {"events.range", &ControlServer::events_range},
                                                               {"daemon.stop", &ControlServer::daemon_stop},
                                                               {"alert.test", &ControlServer::alert_test},
                                                               {"alert.result", &ControlServer::alert_result}};

ControlServer::ControlServer(zmq::context_t& context, const Options& options, Ledger& ledger, EventHub& hub, Supervisor& supervisor,
                             AlertCenter& alerts, const DeviceWatch& devices, int64_t started_unix_ns)
    : options_(options),
      ledger_(ledger),
      hub_(hub),
      supervisor_(supervisor),
      alerts_(alerts),
      devices_(devices),
      started_unix_ns_(started_unix_ns),
      socket_(context, zmq::socket_type::router) {
  socket_.set(zmq::sockopt::linger, kLinger_ms);
  socket_.set(zmq::sockopt::sndhwm, kQueueMax);
  socket_.set(zmq::sockopt::rcvhwm, kQueueMax);
  socket_.set(zmq::sockopt::maxmsgsize, kRequestBytesMax);
  bind();
  if (!options.extra_control.empty()) socket_.bind(options.extra_control);
}

void ControlServer::bind() { socket_.bind(wire::endpoints_in(options_.runtime_directory).control); }

void ControlServer::answer_requests() {
  for (int i = 0; i < kRequestsMax; ++i) {
    zmq::message_t identity, frame;
    if (!socket_.recv(identity, zmq::recv_flags::dontwait)) return;
    bool more = identity.more() && socket_.recv(frame).has_value() && frame.more();
    for (zmq::message_t rest; more;) more = socket_.recv(rest).has_value() && rest.more();
    const std::string reply = wire::encode_body(reply_to(frame.to_string_view()));
    if (socket_.send(identity, zmq::send_flags::sndmore | zmq::send_flags::dontwait))
      (void)socket_.send(zmq::buffer(reply), zmq::send_flags::dontwait);
  }
}

nlohmann::json ControlServer::reply_to(std::string_view frame) {
  ++requests_;
  json request = json::object(), reply;
  try {
    request = wire::decode_body(frame);
    reply = dispatch(request);
    reply["ok"] = true;
  } catch (const Error& error) {
    reply = {{"ok", false}, {"error", to_json(error.parts())}};
  } catch (const json::exception& error) {
    reply = {{"ok", false}, {"error", to_json(bad_request(error.what()).parts())}};
  } catch (const std::exception& error) {
    spdlog::error("a request failed: {}", error.what());
    reply = {{"ok", false},
             {"error", to_json(ErrorParts{"RW-DAEMON-040", error.what(), "", "", "look into the daemon's log", ExitCode::run_failed})}};
  }
  if (!reply["ok"].get<bool>()) ++refused_;
  reply["version"] = wire::kProtocolVersion;
  reply["id"] = request.contains("id") ? request["id"] : json(0);
  return reply;
}

nlohmann::json ControlServer::dispatch(const json& request) {
  if (const auto version = request.value("version", int64_t{0}); version != wire::kProtocolVersion) throw wire::version_mismatch(version);
  const std::string name = request.value("op", "");
  std::vector<std::string> names;
  for (const Operation& operation : kOperations) {
    if (name == operation.name) return (this->*operation.answer)(request);
    names.push_back(operation.name);
  }
  const std::string nearest = text::nearest(name, names);
  throw bad_request("unknown operation `" + name + "`" + (nearest.empty() ? "" : "; the nearest is `" + nearest + "`"));
}

nlohmann::json ControlServer::hello(const json&) {
  return {{"pid", ::getpid()},
          {"node", host::node_name()},
          {"started_unix_ns", started_unix_ns_},
          {"store", options_.store.string()},
          {"state_directory", options_.store.parent_path().string()},
          {"runtime_directory", options_.runtime_directory.string()},
          {"active_runs", supervisor_.active()},
          {"exit_when_idle", options_.exit_when_idle},
          {"node_sequence", hub_.node_sequence()},
          {"ringwright_version", RINGWRIGHT_VERSION}};
}

nlohmann::json ControlServer::status(const json& request) {
  json reply = hello(request);
  json counters = supervisor_.counters();
  counters.update(ledger_.counters());
  counters.update(alerts_.counters());
  counters.update({{"requests", requests_}, {"requests_refused", refused_}, {"damaged_worker_messages", damaged_worker_messages_}});
  reply["counters"] = std::move(counters);
  reply["orphan_grace_s"] = options_.orphan_grace_s;
  reply["stop_grace_s"] = options_.stop_grace_s;
  reply["devices"] = devices();
  const auto failing = ledger_.failing();
  reply["store_error"] = failing ? to_json(*failing) : json(nullptr);
  reply["unrecorded"] = json::array();
  for (const auto& [run, state] : ledger_.unrecorded())
    reply["unrecorded"].push_back({{"run", run},
                                   {"state", history::to_string(state.state)},
                                   {"reason", state.reason},
                                   {"failed_rank", state.failed_rank},
                                   {"time_unix_ns", state.time_unix_ns}});
  return reply;
}

nlohmann::json ControlServer::devices() const {
  wire::DeviceReport report = *devices_.latest();
  for (wire::DeviceReading& device : report.devices) device.ranks = supervisor_.ranks_among(device.processes);
  return wire::to_json(report, wire::now_unix_ns());
}

nlohmann::json ControlServer::run_launch(const json& request) {
  if (end_wish_ != EndWish::none) supervisor_.refuse_launches("the daemon is ending");
  return {{"run", supervisor_.launch(request)}};
}

nlohmann::json ControlServer::run_stop(const json& request) {
  std::string mode = request.value("force", false) ? "now" : "after-step";
  mode = request.value("mode", mode);
  if (mode == "after-checkpoint") return run_steer(request);
  if (mode != "after-step" && mode != "now") throw bad_request("a run stops after-step, after-checkpoint or now, not `" + mode + "`");
  const auto run = request.at("run").get<std::string>();
  return {{"state", history::to_string(supervisor_.stop(run, mode == "now", "on request", who_asks(request)))}};
}

nlohmann::json ControlServer::run_steer(const json& request) {
  return {{"state", history::to_string(supervisor_.steer(request.at("run").get<std::string>(), read_steering_request(request)))}};
}

nlohmann::json ControlServer::run_list(const json&) {
  json runs = json::array();
  for (const history::RunRecord& run : ledger_.reader().runs()) runs.push_back(run_to_json(run));
  return {{"runs", std::move(runs)}};
}

nlohmann::json ControlServer::snapshot(const json&) { return {{"node_sequence", hub_.node_sequence()}, {"runs", supervisor_.summaries()}}; }

nlohmann::json ControlServer::events_range(const json& request) {
  const auto to = std::min(request.at("to").get<uint64_t>(), ledger_.node_sequence());
  auto next = std::max<uint64_t>(1, request.at("from").get<uint64_t>());
  const size_t limit = std::min(request.value("limit", kRangeEventsMax), kRangeEventsMax);
  const std::string run = request.value("run", "");
  const history::Reader& reader = ledger_.reader();
  json events = json::array();
  size_t bytes = 0;
  for (size_t scanned = 0; next <= to && events.size() < limit && bytes < kRangeBytesMax && scanned < kRangeScanMax;) {
    const auto slice = reader.events(next, to, std::min(kRangeSlice, run.empty() ? limit - events.size() : kRangeSlice));
    if (slice.empty()) next = to + 1;  // the rest has been pruned
    for (const wire::Event& event : slice) {
      next = event.node_sequence + 1;
      ++scanned;
      if (!run.empty() && event.run != run) continue;
      const std::string body = wire::encode_body(event.body);
      bytes += body.size();
      events.push_back({event.run, binary(wire::encode_header(event)), binary(body)});
      if (events.size() >= limit) break;
    }
  }
  return {{"events", std::move(events)}, {"next", next}, {"oldest", reader.oldest_journal_sequence()}};
}

nlohmann::json ControlServer::alert_test(const json&) {
  return {{"test", alerts_.test()}, {"command", options_.alerts.command}, {"time_limit_s", options_.alerts.command_time_limit_s}};
}

nlohmann::json ControlServer::alert_result(const json& request) { return alerts_.test_result(request.at("test").get<uint64_t>()); }

nlohmann::json ControlServer::daemon_stop(const json& request) {
  end_wish_ = request.value("drain", false) ? EndWish::after_runs : EndWish::stop_runs;
  supervisor_.refuse_launches("the daemon is ending");
  return json::object();
}

}  // namespace ringwright::service

#include <fmt/format.h>

#include <cstdio>

#include "console/cli/daemon_access.h"
#include "console/cli/device_list.h"
#include "console/cli/run_text.h"
#include "console/cli/verb.h"
#include "shared/base/text.h"
#include "shared/wire/control_socket.h"

namespace ringwright::cli {
namespace {

constexpr auto kStopDeadline = std::chrono::seconds(60);

std::string describe_daemon(const nlohmann::json& reply) {
  const double up_s = static_cast<double>(wire::now_unix_ns() - reply.value("started_unix_ns", int64_t{0})) * 1e-9;
  return fmt::format("ringwrightd {} on {} (process {}), up {}\nhistory   {}\nsockets   {}\n", reply.value("ringwright_version", "?"),
                     reply.value("node", "?"), reply.value("pid", 0), text::format_elapsed(up_s), reply.value("store", "?"), own_endpoints().control);
}

// What concerns the request and not the daemon.
nlohmann::json without_envelope(nlohmann::json reply) {
  for (const char* field : {"id", "ok", "version"}) reply.erase(field);
  return reply;
}

// Runs may be listed by id or counted; both are shown as they come.
std::string describe_active(const nlohmann::json& reply) {
  const nlohmann::json active = reply.value("active_runs", nlohmann::json());
  if (!active.is_array()) return active.is_null() ? "" : fmt::format("runs      {} active\n", active.dump());
  std::string list;
  for (const auto& run : active) list += (list.empty() ? "" : ", ") + (run.is_string() ? run.get<std::string>() : run.dump());
  return fmt::format("runs      {}\n", list.empty() ? "none" : list);
}

int start(const DaemonOptions& options, const Invocation& invocation) {
  std::optional<nlohmann::json> reply = hello(own_endpoints());
  const bool was_there = reply.has_value();
  if (!was_there) reply = start_daemon(options);
  const std::filesystem::path wanted = options.store.empty() ? std::filesystem::path() : std::filesystem::absolute(options.store);
  if (was_there && !wanted.empty() && wanted != reply->value("store", ""))
    throw Error({"RW-CLI-021", "a daemon is running already, with another history", reply->value("store", ""), wanted.string(),
                 "stop it first with: ringwright daemon stop", ExitCode::refused});
  if (invocation.json) {
    (*reply)["started"] = !was_there;
    std::fputs(dump_document(without_envelope(*reply)).c_str(), stdout);
  } else {
    fmt::print("{}{}", was_there ? "A daemon is running already.\n" : "", describe_daemon(*reply));
  }
  return 0;
}

int status(const Invocation& invocation) {
  nlohmann::json reply = wire::ControlClient(own_endpoints(), kAnswerTimeout).request("status");
  if (invocation.json) {
    std::fputs(dump_document(without_envelope(std::move(reply))).c_str(), stdout);
    return 0;
  }
  fmt::print("{}{}", describe_daemon(reply), describe_active(reply));
  print_devices(reply);
  const nlohmann::json counters = reply.value("counters", nlohmann::json::object());
  for (const auto& [name, value] : counters.items())
    if (value.is_number() && value != 0) fmt::print("{:<9} {}\n", "counter", name + " " + value.dump());
  if (const nlohmann::json failing = reply.value("store_error", nlohmann::json()); failing.is_object())
    fmt::print("history is not being written:\n{}\n", describe(error_parts_from_json(failing)));
  return 0;
}

// The process that has ended.
pid_t end(const StopOptions& options) {
  const wire::Endpoints endpoints = own_endpoints();
  if (!wire::somebody_listens(endpoints.control))
    if (const std::optional<pid_t> writer = end_writer(options, kStopDeadline)) return *writer;
  const nlohmann::json reply = wire::ControlClient(endpoints, kAnswerTimeout).request("hello");
  const auto pid = reply.at("pid").get<pid_t>();
  if (!end_daemon(reply, options, options.drain ? std::nullopt : std::optional<std::chrono::milliseconds>(kStopDeadline))) throw lives_on(pid);
  return pid;
}

int stop(const StopOptions& options, const Invocation& invocation) {
  const pid_t pid = end(options);
  if (invocation.json)
    std::fputs(dump_line({{"stopped", true}, {"pid", pid}}).c_str(), stdout);
  else
    fmt::print("The daemon (process {}) has ended.\n", pid);
  return 0;
}

void build(Command& command, Invocation& invocation) {
  Command start_command = add_subverb(command, "start", "Start the daemon of this user on this node, in the background");
  auto start_options = std::make_shared<DaemonOptions>();
  start_command.add_option("--store", start_options->store, "the history file that it writes").type_name("FILE");
  start_command
      .add_option("--orphan-grace-s", start_options->orphan_grace_s, "seconds that workers outlive a daemon that died; 0: they end at once [30]")
      .check(from_zero_on());
  set_action(start_command, invocation, [start_options, &invocation] { return start(*start_options, invocation); });

  Command status_command = add_subverb(command, "status", "Whether it runs, since when, with which history, runs and devices");
  set_action(status_command, invocation, [&invocation] { return status(invocation); });

  Command stop_command = add_subverb(command, "stop", "Stop its runs, then the daemon");
  auto stop_options = std::make_shared<StopOptions>();
  stop_command.add_flag("--drain", stop_options->drain, "wait for its runs to end by themselves instead");
  stop_command.add_option("--store", stop_options->store, "the history that it writes, to find it by when its sockets are not where they should be")
      .type_name("FILE");
  set_action(stop_command, invocation, [stop_options, &invocation] { return stop(*stop_options, invocation); });
}

const VerbEntry kEntry({Group::service, "daemon", "Start, look at or stop the daemon on this node", build});

}  // namespace
}  // namespace ringwright::cli

// The daemon's control protocol: ROUTER at <runtime directory>/control.sock. A request is one MessagePack map
// {version, id, op, ...}, the reply {version, id, ok: true, ...} or {version, id, ok: false, error: ErrorParts as a map}.
//
//   hello            -> {pid, node, started_unix_ns, store, state_directory, runtime_directory, active_runs, node_sequence, ringwright_version}
//   run.launch       {recipe (resolved map), recipe_text, recipe_path, overrides [text], name, paths, mesh {pp,dp_replicate,dp_shard,cp,tp},
//                     world_size, threads_per_rank, algorithm, port?, probe?, relaunch_of?, who?, talk?: {workers, and the fields of talk_plan.h}} ->
//                     {run}
//   run.stop         {run, force: bool, mode?: "after-step" | "after-checkpoint" | "now", who?}                     -> {state}
//   run.pause, run.resume, run.checkpoint {run, who?}                                                              -> {state}
//   run.set          {run, key, value, who?}: one of settable_keys() (steering.h)                                  -> {state}
//                    These take effect between two steps, on all ranks between the same two; the events tell when. `who` is kept in the history
//   run.list         {}                                                                                            -> {runs: [...]}
//   snapshot         {} -> {node_sequence, runs: [...]}: the state of all active runs as of node_sequence
//   events.range     {from, to, limit, run?} -> {events: [[topic, header, body], ...], next, oldest}: committed events by node_sequence, of one
//                     run where `run` is given. `next`: where to go on; `oldest`: what lies before it has been pruned from the journal
//   status           {} -> hello's fields and {counters: {name: number}}: how often each bound was hit; {devices}: see device_report.h
//   alert.test       {} -> {test, command [text], time_limit_s}: the command for alerts is called with a made-up one
//   alert.result     {test} -> {done, good, what, seconds}: how that call went
//   daemon.stop      {drain: bool}     -> {}: drain waits for the runs, otherwise they are stopped first
//
// Events: XPUB at <runtime directory>/events.sock. On subscribing, a subscriber gets a welcome message: topic "welcome", then one
// MessagePack map {version, node_sequence, started_unix_ns, devices}. It then asks for a snapshot or a range up to that number and drops what it
// has twice. The same message is sent every second, so that silence means trouble and a loss at the end of a burst is seen too.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shared/wire/device_report.h"
#include "shared/wire/message.h"

namespace ringwright::wire {

// The welcome message comes every second: silence for so long is worth a warning, and for so long the end of a connection.
constexpr std::chrono::seconds kStaleAfter{3}, kLostAfter{15};

struct Endpoints {
  std::string control;
  std::string events;
  std::string workers;
};
// The three sockets below `runtime_directory`.
Endpoints endpoints_in(const std::filesystem::path& runtime_directory);

// Blocking client of the control socket; one thread at a time. The sockets linger for at most a second when it is destroyed.
class ControlClient {
 public:
  ControlClient(const Endpoints& endpoints, std::chrono::milliseconds timeout = std::chrono::seconds(5));
  ~ControlClient();
  // Throws Error RW-DAEMON-001 (exit code 4) when nothing answers in time, RW-WIRE-002 (exit code 5) for another version,
  // and the daemon's own Error when the reply carries one.
  nlohmann::json request(const std::string& op, nlohmann::json arguments = nlohmann::json::object());

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr const char* kWelcomeTopic = "welcome";

// Subscriber with gap repair: each event exactly once, in the order of node_sequence. A background thread receives; the callback
// runs on that thread and must not throw.
class EventStream {
 public:
  enum class Connection { connecting, connected, stale, lost };  // stale: 3 s of silence, lost: 15 s, or nobody listens any more
  struct Status {
    Connection connection = Connection::connecting;
    uint64_t node_sequence = 0;       // up to here everything has been delivered
    uint64_t gaps = 0, repaired = 0;  // events missed on the wire; those of them fetched from the store
    int64_t last_message_unix_ns = 0;
    std::shared_ptr<const DeviceReport> devices;  // the node's, as its last heartbeat has them; null: it has sent none
  };
  // `after`: the last node_sequence that the caller has; events after it are delivered, the missing ones fetched first. With `run`, only
  // that run's events are delivered (the numbers of the others count as seen).
  EventStream(const Endpoints& endpoints, uint64_t after, std::function<void(const Event&)> deliver, std::string run = "");
  ~EventStream();
  Status status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringwright::wire

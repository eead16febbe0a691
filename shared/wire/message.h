// What passes between worker, daemon and console. Pure data: encoding and decoding, no sockets.
//
// An event message on the wire is three ZeroMQ frames:
//   topic    the run's id (empty for events of the node itself); what a subscriber filters by
//   header   fixed, little-endian: magic "RW", protocol version, kind, rank, worker_sequence, node_sequence, time_unix_ns
//   body     MessagePack map; its fields by kind are listed below
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "shared/base/error.h"

namespace ringwright::wire {

inline constexpr uint8_t kProtocolVersion = 1;
inline constexpr size_t kHeaderBytes = 32;
// The largest body that the daemon takes from a worker; a larger message is refused and counted.
inline constexpr size_t kBodyBytesMax = size_t{4} << 20;

// Kinds that a reader does not know are stored and skipped, so new ones may be added without a new protocol version.
enum class Kind : uint8_t {
  metric = 1,     // {step, tokens, points: {name: float64, ...}}
  log = 2,        // {level: "info"|"warn"|"error"|"debug", text}
  event = 3,      // {name, ...}; names used: run.state {state, reason}, run.step_limit, checkpoint.saved {path, step, bytes}, fingerprint
  span = 4,       // {phase, step, begin_ns, end_ns}
  sample = 5,     // {step, prompt, reply, ...}
  heartbeat = 6,  // {step, resident_bytes, cpu_seconds}
};

// One event. `rank` is the global rank, -1 for the daemon itself. A worker numbers its events from 1 without gaps (worker_sequence);
// the daemon numbers all events of the node from 1 without gaps over its whole history (node_sequence, 0 before it is committed).
struct Event {
  std::string run;
  Kind kind = Kind::event;
  int32_t rank = -1;
  uint64_t worker_sequence = 0;
  uint64_t node_sequence = 0;
  int64_t time_unix_ns = 0;
  nlohmann::json body;
  std::string body_frame = {};  // of one that came over the wire: the body as it came, so that it need not be encoded again; otherwise empty
};

// The header frame. Throws Error RW-WIRE-001 (no Ringwright frame), RW-WIRE-002 (other protocol version; exit code 5).
std::string encode_header(const Event& event);
void decode_header(std::string_view frame, Event& event);
// The body frame. Decoding throws Error RW-WIRE-003 (damaged body, one that is no map, or one nested deeper than 64 levels) and makes
// every text valid UTF-8.
std::string encode_body(const nlohmann::json& body);
nlohmann::json decode_body(std::string_view frame);
// An event as `events.range` has it: [run, header frame, body frame]. Throws as those do.
Event event_from_frames(const nlohmann::json& frames);
// The event's own body frame, else its body encoded into `buffer`.
std::string_view body_frame_of(const Event& event, std::string& buffer);

// RW-WIRE-002, for whoever finds that the other side speaks version `theirs`.
Error version_mismatch(int64_t theirs);

int64_t now_unix_ns();
// Never negative: clocks are set back (T33).
double seconds_between(int64_t from_unix_ns, int64_t to_unix_ns);

}  // namespace ringwright::wire

// What a run can be asked while it goes on: one table of requests, each with the runs that may take it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "shared/history/records.h"
#include "shared/wire/steering.h"

namespace ringwright::service {

enum class SteeringAction { pause, resume, checkpoint, set, stop_after_checkpoint };

struct SteeringRequest {
  SteeringAction action = SteeringAction::pause;
  std::string who;        // as the client says: "user@node, ringwright pause"
  wire::Setting setting;  // of `set`
};

// From a control request: op run.pause, run.resume, run.checkpoint, run.set {key, value}, or run.stop {mode: "after-checkpoint"}; `who` where it says
// so. Throws Error RW-WIRE-006 for a field of the wrong type and those of wire::make_setting().
SteeringRequest read_steering_request(const nlohmann::json& request);
// Who asks, fit to be stored and shown: one line of at most 200 bytes; "an unnamed client" where the request does not say.
std::string who_asks(const nlohmann::json& request);

// What decides whether a run may take a request.
struct SteeredRun {
  std::string_view id;
  history::RunState state;
  std::string_view algorithm;
  bool saves_checkpoints;   // checkpointing.enabled
  bool saves_periodically;  // and before its end, too
};

// Throws Error RW-STEER-010 (exit code 3): the run is over, has not begun, is stopping, or is none that can do this; with the reason.
void require_steerable(const SteeringRequest& request, const SteeredRun& run);

// What rank 0 is told (worker_spec.h).
nlohmann::json message_to_worker(const SteeringRequest& request);
// The event that the history keeps of it: {name: run.steering, action, who, ...}.
nlohmann::json steering_event(const SteeringRequest& request);

}  // namespace ringwright::service

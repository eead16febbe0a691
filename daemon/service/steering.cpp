#include "daemon/service/steering.h"

#include <algorithm>
#include <array>

#include "shared/base/error.h"
#include "shared/base/text.h"

namespace ringwright::service {
namespace {

using history::RunState;
using nlohmann::json;

constexpr size_t kWhoBytesMax = 200;

struct Entry {
  std::string_view op;    // of the control protocol
  std::string_view name;  // in the event
  std::string_view verb;  // in a refusal: "cannot be paused"
  bool talkers_too;       // a talk-only run can do it
  json (*message)();      // what rank 0 is told
};

// By SteeringAction.
constexpr std::array<Entry, 5> kEntries = {
    {{"run.pause", "pause", "paused", true, []() -> json { return {{"op", "pause"}}; }},
     {"run.resume", "resume", "resumed", true, []() -> json { return {{"op", "resume"}}; }},
     {"run.checkpoint", "checkpoint", "asked for a checkpoint", false, []() -> json { return {{"op", "checkpoint"}}; }},
     {"run.set", "set", "changed", false, []() -> json { return {{"op", "set"}}; }},
     {"run.stop", "stop-after-checkpoint", "stopped after a checkpoint", false, []() -> json { return {{"op", "stop"}, {"after", "checkpoint"}}; }}}};

void add_setting(json& message, const SteeringRequest& request) {
  message["key"] = wire::settable_keys()[request.setting.key].name;
  message["value"] = request.setting.value;
}

const Entry& entry_of(const SteeringRequest& request) { return kEntries[static_cast<size_t>(request.action)]; }

Error refused(const SteeringRequest& request, const SteeredRun& run, const std::string& why, const std::string& action) {
  return Error({"RW-STEER-010", std::string("the run cannot be ") + std::string(entry_of(request).verb) + ": " + why, std::string(run.id),
                "a run that is going on and takes steps", action, ExitCode::refused});
}

std::string why_not_by_state(RunState state) {
  if (history::is_final(state)) return "it is over (" + std::string(history::to_string(state)) + ")";
  if (state == RunState::stopping) return "it is stopping already";
  return state == RunState::running || state == RunState::paused ? "" : "its workers are not ready yet";
}

}  // namespace

std::string who_asks(const json& request) {
  std::string who;
  if (const auto found = request.find("who"); found != request.end() && found->is_string()) who = found->get<std::string>();
  std::erase_if(who, [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; });
  who = text::valid_utf8(who.substr(0, kWhoBytesMax));
  return who.empty() ? "an unnamed client" : who;
}

SteeringRequest read_steering_request(const json& request) {
  const std::string op = request.value("op", "");
  const auto entry = std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& each) { return each.op == op; });
  if (entry == kEntries.end())
    throw Error({"RW-WIRE-006", "the request steers no run", op, "see shared/wire/control.h", "use a client of this release"});
  SteeringRequest result;
  result.action = static_cast<SteeringAction>(entry - kEntries.begin());
  result.who = who_asks(request);
  if (result.action != SteeringAction::set) return result;
  const auto key = request.find("key"), value = request.find("value");
  if (key == request.end() || !key->is_string() || value == request.end() || !value->is_number())
    throw Error({"RW-WIRE-006", "the request says not what to set", "key, value", "a text and a number", "use a client of this release"});
  result.setting = wire::make_setting(key->get<std::string>(), value->get<double>());
  return result;
}

void require_steerable(const SteeringRequest& request, const SteeredRun& run) {
  if (const std::string why = why_not_by_state(run.state); !why.empty())
    throw refused(request, run, why, history::is_final(run.state) ? "start it again: ringwright relaunch RUN" : "ask again in a moment");
  const bool talks = run.algorithm == "talk", trains = run.algorithm == "sft";
  if (!trains && !(talks && entry_of(request).talkers_too))
    throw refused(request, run, "a run of algorithm " + std::string(run.algorithm) + " takes no training steps",
                  "leave it, or stop it: ringwright stop RUN");
  const bool wants_period = request.action == SteeringAction::set && wire::settable_keys()[request.setting.key].needs_checkpoints;
  if (wants_period && !run.saves_checkpoints)
    throw refused(request, run, "its recipe saves no checkpoints (checkpointing.enabled is false)", "save one now: ringwright checkpoint RUN");
  if (request.action == SteeringAction::stop_after_checkpoint && !run.saves_periodically)
    throw refused(request, run, "its recipe saves none before its end", "ringwright checkpoint RUN, then ringwright stop RUN");
}

json message_to_worker(const SteeringRequest& request) {
  json message = entry_of(request).message();
  if (request.action == SteeringAction::set) add_setting(message, request);
  return message;
}

json steering_event(const SteeringRequest& request) {
  json event = {{"name", "run.steering"}, {"action", entry_of(request).name}, {"who", request.who}};
  if (request.action == SteeringAction::set) add_setting(event, request);
  return event;
}

}  // namespace ringwright::service

// What the daemon hands to each worker process: one JSON file per run, `spec.json` in the run's folder, and a few arguments.
//
//   ringwright-worker --spec FILE --rank R --channel ENDPOINT [--listen-fd FD]
//
// FD (rank 0 only) is a TCP socket that the daemon has bound and listens on: the rendezvous port is held from choice to use.
// ENDPOINT is the daemon's ROUTER socket for workers; the worker's DEALER has the routing id "<run>/<rank>".
// Frames worker -> daemon: topic, header, body (message.h). Frames daemon -> worker: one MessagePack map,
//   {op: "ack", sequence}   all events up to `sequence` are committed
//   {op: "stop"}            finish the current step, save what the recipe asks for, exit 0
//   {op: "stop", after: "checkpoint"}, {op: "pause"}, {op: "resume"}, {op: "checkpoint"}, {op: "set", key, value}
//                           to rank 0 alone, which tells the others at the end of the step, so that all act between the same two steps
//   {op: "ping"}            sent every second; silence, or a changed parent, starts the orphan grace time
// What rank 0 has done of it comes back as events: run.stopping {step}, run.paused {step}, run.resumed {step}, checkpoint.saved, run.setting
// {key, value, previous, step}.
// A worker keeps unacknowledged events (bounded; when full, the producer waits) and exits only when all are acknowledged or the
// daemon is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "shared/mesh/mesh.h"
#include "shared/wire/talk_plan.h"

namespace ringwright::wire {

struct WorkerSpec {
  std::string run;
  std::string directory;  // the run's folder: spec.json, rank<r>.log, checkpoints when the recipe names no other place
  nlohmann::json recipe;  // resolved recipe
  nlohmann::json paths;   // {"model": folder, "tokenizer": folder, "train": file, "validation": file|null}, absolute
  int world_size = 1;
  int dp_replicate = 1, dp_shard = 1, cp = 1, tp = 1, pp = 1;
  std::string rendezvous_host = "127.0.0.1";
  uint16_t rendezvous_port = 0;
  double orphan_grace_s = 30;
  int threads_per_rank = 1;
  std::string probe;  // "chosen", "all": compare one batch at cp = 1 with one at cp = n and end; "": train
  TalkPlan talk;      // one that talks: a talk-only worker
};

// Throws the mesh's errors: the sizes do not multiply to the world.
mesh::Mesh mesh_of(const WorkerSpec& spec);
nlohmann::json to_json(const WorkerSpec& spec);
WorkerSpec worker_spec_from_json(const nlohmann::json& json);
void write_worker_spec(const WorkerSpec& spec, const std::filesystem::path& file);
WorkerSpec read_worker_spec(const std::filesystem::path& file);

}  // namespace ringwright::wire

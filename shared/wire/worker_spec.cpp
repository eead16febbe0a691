#include "shared/wire/worker_spec.h"

#include <algorithm>
#include <climits>
#include <fstream>
#include <system_error>

#include "shared/base/error.h"
#include "shared/base/files.h"

namespace ringwright::wire {
namespace {

// One row for each field that is neither a recipe nor paths: the same table writes and reads.
template <class Spec, class Visit>
void for_each_field(Spec& spec, Visit visit) {
  visit("run", spec.run);
  visit("directory", spec.directory);
  visit("recipe", spec.recipe);
  visit("paths", spec.paths);
  visit("world_size", spec.world_size);
  visit("dp_replicate", spec.dp_replicate);
  visit("dp_shard", spec.dp_shard);
  visit("cp", spec.cp);
  visit("tp", spec.tp);
  visit("pp", spec.pp);
  visit("rendezvous_host", spec.rendezvous_host);
  visit("rendezvous_port", spec.rendezvous_port);
  visit("orphan_grace_s", spec.orphan_grace_s);
  visit("threads_per_rank", spec.threads_per_rank);
  visit("probe", spec.probe);
}

Error bad_spec(const std::string& what, const std::string& where) {
  return Error({"RW-SPEC-001", what, where, "the spec.json that the daemon wrote", "start the worker through the daemon: ringwright run RECIPE"});
}

}  // namespace

mesh::Mesh mesh_of(const WorkerSpec& spec) {
  mesh::ParallelismSizes sizes;
  sizes.dp = static_cast<int>(std::clamp<int64_t>(int64_t{spec.dp_replicate} * spec.dp_shard, INT_MIN, INT_MAX));
  sizes.dp_replicate = spec.dp_replicate;
  sizes.tp = spec.tp, sizes.pp = spec.pp, sizes.cp = spec.cp;
  return mesh::Mesh::build(spec.world_size, sizes);
}

nlohmann::json to_json(const WorkerSpec& spec) {
  nlohmann::json json;
  for_each_field(spec, [&](const char* name, const auto& value) { json[name] = value; });
  json["talk"] = to_json(spec.talk);
  return json;
}

WorkerSpec worker_spec_from_json(const nlohmann::json& json) {
  WorkerSpec spec;
  for_each_field(spec, [&](const char* name, auto& value) {
    if (!json.is_object() || !json.contains(name)) throw bad_spec("the worker's specification lacks a field", name);
    try {
      json.at(name).get_to(value);
    } catch (const nlohmann::json::exception& error) {
      throw bad_spec(std::string("a field of the worker's specification has the wrong type: ") + error.what(), name);
    }
  });
  if (!json.contains("talk")) throw bad_spec("the worker's specification lacks a field", "talk");
  spec.talk = talk_plan_from_json(json.at("talk"));
  return spec;
}

void write_worker_spec(const WorkerSpec& spec, const std::filesystem::path& file) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << to_json(spec).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  out.close();
  if (!out)
    throw Error({"RW-SPEC-002", "the worker's specification cannot be written: " + std::generic_category().message(errno), file.string(),
                 "a folder with room that the daemon may write", "make room, or set XDG_STATE_HOME to another disk", ExitCode::run_failed});
}

WorkerSpec read_worker_spec(const std::filesystem::path& file) {
  std::string text;
  try {
    text = files::read_all(file);
  } catch (const std::system_error& error) {
    throw bad_spec("the worker's specification cannot be read: " + error.code().message(), file.string());
  }
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw bad_spec("the worker's specification is no JSON", file.string());
  return worker_spec_from_json(json);
}

}  // namespace ringwright::wire

#include "daemon/service/launch_request.h"

#include "shared/base/error.h"

namespace ringwright::service {
namespace {

constexpr const char* kMeshAxes[] = {"pp", "dp_replicate", "dp_shard", "cp", "tp"};

template <class T>
T field(const nlohmann::json& arguments, const char* name, T fallback) {
  const auto found = arguments.find(name);
  if (found == arguments.end() || found->is_null()) return fallback;
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw Error({"RW-DAEMON-030", std::string("run.launch: a field has the wrong type: ") + error.what(), name, "", "use a client of this release"});
  }
}

nlohmann::json map_field(const nlohmann::json& arguments, const char* name) {
  nlohmann::json value = field<nlohmann::json>(arguments, name, nlohmann::json::object());
  if (!value.is_object()) throw Error({"RW-DAEMON-030", "run.launch: a field is no map", name, "a map", "use a client of this release"});
  return value;
}

void read_sizes(const nlohmann::json& arguments, LaunchRequest& request) {
  wire::WorkerSpec& spec = request.spec;
  nlohmann::json talk = map_field(arguments, "talk"), mesh = map_field(arguments, "mesh");
  spec.world_size = talk.empty() ? field<int>(arguments, "world_size", 1) : field<int>(talk, "workers", 1);
  const bool talks = !talk.empty();
  talk.erase("workers");
  spec.talk = wire::talk_plan_from_json(talk);
  if (talks && !spec.talk.talks())
    throw Error({"RW-DAEMON-030", "run.launch: a talk-only worker has nothing to say", "talk", "`points` above 0, or `from`", "say what to send"});
  if (spec.world_size < 1 || spec.world_size > kWorldSizeMax)
    throw Error({"RW-DAEMON-031", "a run of " + std::to_string(spec.world_size) + " workers cannot be started", "world_size",
                 "1 to " + std::to_string(kWorldSizeMax), "change cluster.gpus_per_node or cluster.num_nodes", ExitCode::refused});
  if (talks) mesh = {{"dp_shard", spec.world_size}};
  int* const axes[] = {&spec.pp, &spec.dp_replicate, &spec.dp_shard, &spec.cp, &spec.tp};
  for (size_t i = 0; i < std::size(kMeshAxes); ++i) request.record.mesh[kMeshAxes[i]] = *axes[i] = field<int>(mesh, kMeshAxes[i], 1);
  (void)wire::mesh_of(spec);
}

}  // namespace

LaunchRequest read_launch_request(const nlohmann::json& arguments) {
  LaunchRequest request;
  read_sizes(arguments, request);
  request.spec.recipe = map_field(arguments, "recipe");
  request.spec.paths = map_field(arguments, "paths");
  request.spec.threads_per_rank = field<int>(arguments, "threads_per_rank", 1);
  request.spec.probe = field<std::string>(arguments, "probe", "");
  const int64_t port = field<int64_t>(arguments, "port", 0);
  if (port < 0 || port > 65'535)
    throw Error({"RW-DAEMON-030", "run.launch: " + std::to_string(port) + " is no port", "port", "1 to 65535, or none",
                 "leave it out: a free one is chosen"});
  request.port = static_cast<uint16_t>(port);
  history::RunRecord& record = request.record;
  record.name = field<std::string>(arguments, "name", request.spec.talk.talks() ? "talk" : "run");
  if (history::is_reserved_name(record.name)) throw history::reserved_name(record.name);
  record.algorithm = field<std::string>(arguments, "algorithm", request.spec.talk.talks() ? "talk" : "sft");
  record.world_size = request.spec.world_size;
  record.recipe = request.spec.recipe;
  record.recipe_text = field<std::string>(arguments, "recipe_text", "");
  record.recipe_path = field<std::string>(arguments, "recipe_path", "");
  record.overrides = field<std::vector<std::string>>(arguments, "overrides", {});
  return request;
}

}  // namespace ringwright::service

// Level 1: how the ranks are arranged.
#include "shared/support_matrix/rows.h"
#include "shared/support_matrix/verdict_names.h"

namespace ringwright::support_matrix {
namespace {

bool trains_on_mesh(const Facts& f) { return f.has_mesh() && f.algorithm != "eval"; }

}  // namespace

const Rows& mesh_rows() {
  static const Rows kRows = {
      {.code = "RW-GUARD-120",
       .scope = "mesh",
       .when = {"sizes that do not multiply to the number of ranks, dp_replicate that does not split dp, or ep that does not divide dp x cp x tp",
                [](const Facts& f) { return f.mesh_fault && !f.megatron; }},
       .automodel = {kNo, kNo},
       .ours = always(kNo),
       .key = "cluster.gpus_per_node",
       .reason = "{fault}",
       .fix = words("{fault_way_out}"),
       .fault = &Facts::mesh_fault},
      {.code = "RW-GUARD-121",
       .scope = "mesh",
       .when = {"sizes that multiply to the number of ranks", trains_on_mesh},
       .automodel = {kYes, kYes},
       .ours = can("mesh"),
       .key = "cluster.gpus_per_node",
       .reason = "world {world} = dp {dp} x cp {cp} x tp {tp}"},
      {.code = "RW-GUARD-122",
       .scope = "data parallelism",
       .when = {"dp > 1", [](const Facts& f) { return trains_on_mesh(f) && f.dp > 1; }},
       .automodel = {kYes, kYes},
       .ours = can("mesh.dp"),
       .key = "cluster.gpus_per_node",
       .reason =
           "{world} ranks make {dp} data-parallel groups; each keeps the whole model and optimizer state, and the gradients are summed over all "
           "of them: same results as with sharded state, no memory saved"},
      {.code = "RW-GUARD-123",
       .scope = "tensor parallelism",
       .when = {"tp > 1", [](const Facts& f) { return !f.megatron && f.tp > 1; }},
       .automodel = {kYes, kYes},
       .ours = can("mesh.tp"),
       .key = "policy.dtensor_cfg.tensor_parallel_size",
       .reason = "this version does not split a layer over ranks; tensor_parallel_size is {tp}",
       .fix = set("policy.dtensor_cfg.tensor_parallel_size", "1")},
      {.code = "RW-GUARD-124",
       .scope = "expert parallelism",
       .when = {"ep > 1", [](const Facts& f) { return !f.megatron && f.ep > 1; }},
       .automodel = {kYes, kYes},
       .ours = can("mesh.ep"),
       .key = "policy.dtensor_cfg.expert_parallel_size",
       .reason = "this version has no expert layers; expert_parallel_size is {ep}",
       .fix = set("policy.dtensor_cfg.expert_parallel_size", "1")},
      {.code = "RW-GUARD-125",
       .scope = "several nodes",
       .when = {"cluster.num_nodes > 1", [](const Facts& f) { return f.nodes > 1; }},
       .automodel = {kYes, kYes},
       .ours = can("mesh.nodes"),
       .key = "cluster.num_nodes",
       .reason = "this version runs on one node; the recipe asks for {nodes}",
       .fix = set("cluster.num_nodes", "1")},
      {.code = "RW-GUARD-126",
       .scope = "arrangement of the ranks",
       .when = {"a size of 0 or less, or a policy for a dimension of size 1",
                [](const Facts& f) { return !f.without_effect.empty() && !f.megatron; }},
       .automodel = {kIf, kIf},
       .ours = can("mesh.without_effect"),
       .key = "policy.dtensor_cfg",
       .reason = "{without_effect}"},
      {.code = "RW-GUARD-127",
       .scope = "placement segments",
       .when = given("cluster.segment_size"),
       .automodel = {kYes, kYes},
       .ours = can("note.placement_segments"),
       .key = "cluster.segment_size",
       .reason = "where ranks stand in the network is not planned here; the results are the same"},
      {.code = "RW-GUARD-128",
       .scope = "network interface",
       .when = {"GLOO_SOCKET_IFNAME (in policy.dtensor_cfg.env_vars or in the environment) is not one existing interface's name",
                [](const Facts& f) { return !f.interface_fault.empty(); }},
       .automodel = {kNo, kNo},
       .ours = always(kNo),
       .key = "{interface_key}",
       .reason =
           "{interface_fault}; it has to be one existing interface's name, no list, no exclusion and no address. This machine has: {interfaces}",
       .fix = words("set it to one of {interfaces}, or take it out where one node is all there is")},
      {.code = "RW-GUARD-129",
       .scope = "addresses of the nodes",
       .when = {"cluster.num_nodes > 1, and this machine's name stands for a loopback address",
                [](const Facts& f) { return f.nodes > 1 && f.machine.loopback && f.interface_fault.empty() && f.interface.empty(); }},
       .automodel = {kIf, kIf},
       .ours = always(kNo),
       .key = "cluster.num_nodes",
       .reason = "{host} would tell the other nodes to reach it at {host_address}, which is themselves; its interfaces are {interfaces}",
       .fix = words("let the name {host} stand for an address that the other nodes reach, or set policy.dtensor_cfg.env_vars.GLOO_SOCKET_IFNAME")},
  };
  return kRows;
}

}  // namespace ringwright::support_matrix

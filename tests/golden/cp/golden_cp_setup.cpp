// Setups and the text adapter: policies beside a mesh, and what a section may say.
#include <map>

#include "shared/base/error.h"
#include "shared/mesh/setup.h"
#include "tests/golden/cp/golden_cp.h"
#include "tests/golden/golden_cases.h"

namespace ringwright::golden {
namespace {

using nlohmann::json;

const std::map<mesh::Strategy, const char*> kStrategyClasses = {
    {mesh::Strategy::fsdp2, "FSDP2Config"}, {mesh::Strategy::megatron_fsdp, "MegatronFSDPConfig"}, {mesh::Strategy::ddp, "DDPConfig"}};

// RW-SETUP-002 is a wrong use of the interface; the rest are bad arguments.
const ErrorCodes kCodes = {.bad_argument = {"RW-SETUP-001", "RW-SETUP-003", "RW-SETUP-004", "RW-SETUP-005", "RW-SETUP-006", "RW-SETUP-007",
                                            "RW-SETUP-008", "RW-SETUP-009", "RW-MESH-"},
                           .misuse = {"RW-SETUP-002"}};

json checkpointing(mesh::ActivationCheckpointing mode) {
  if (mode == mesh::ActivationCheckpointing::selective) return "selective";
  return mode == mesh::ActivationCheckpointing::full;
}

json or_null(const std::optional<int>& value) { return value ? json(*value) : json(nullptr); }

std::optional<json> optional_field(const json& params, const char* name) {
  return params.contains(name) ? std::optional(params.at(name)) : std::nullopt;
}

json section_of(const json& params) {
  json section = params.value("sizes", json::object());
  if (params.contains("strategy")) section["strategy"] = params.at("strategy");
  if (params.contains("activation_checkpointing")) section["activation_checkpointing"] = params.at("activation_checkpointing");
  return section;
}

// The sizes and names are spelled as in a section; the policies are not softened as it would.
mesh::SetupRequest request_of(const json& params) {
  json section = section_of(params);
  if (section.value("pp_size", 1) > 1) section["pipeline"] = json::object();
  mesh::SetupRequest request = mesh::read_section(section).request;
  request.pipeline = optional_field(params, "pipeline_config");
  request.experts = optional_field(params, "moe_parallel_config");
  return request;
}

json outcome(const mesh::SetupRequest& request, bool has_pipeline, bool has_experts) {
  return {{"strategy", kStrategyClasses.at(request.strategy.strategy)},
          {"has_pipeline", has_pipeline},
          {"has_moe", has_experts},
          {"activation_checkpointing", checkpointing(request.activation_checkpointing)}};
}

}  // namespace

void check_distributed_setup(const json& golden) {
  const json& params = golden.at("params");
  const json& expect = golden.at("expect");
  const auto build = [&] { return mesh::build_setup(params.at("world_size").get<int>(), request_of(params)); };
  if (expect.contains("error")) return expect_error(expect.at("error"), kCodes, build);
  const mesh::DistributedSetup setup = build();
  json got = outcome(request_of(params), setup.pipeline.has_value(), setup.experts.has_value());
  const mesh::ResolvedSizes sizes = setup.mesh.sizes();
  got.update({{"pp", sizes.pp}, {"ep", sizes.ep}, {"cp", sizes.cp}, {"dp", or_null(sizes.dp)}});
  expect_equal("setup", got, expect);
}

void check_parse_distributed_section(const json& golden) {
  const json& config = golden.at("input").at("config");
  const json& expect = golden.at("expect");
  if (expect.contains("error")) return expect_error(expect.at("error"), kCodes, [&] { mesh::read_section(config); });
  const mesh::SetupRequest request = mesh::read_section(config).request;
  json got = outcome(request, request.pipeline.has_value(), request.experts.has_value());
  const mesh::ParallelismSizes& sizes = request.sizes;
  got["sizes"] = {{"tp_size", sizes.tp}, {"pp_size", sizes.pp},          {"cp_size", sizes.cp},
                  {"ep_size", sizes.ep}, {"dp_size", or_null(sizes.dp)}, {"dp_replicate_size", or_null(sizes.dp_replicate)}};
  got["pp_enabled"] = sizes.pp > 1;
  expect_equal("section", got, expect);
}

void check_mesh_axis_names(const json& golden) {
  const json& expect = golden.at("expect");
  const auto check = [&] { mesh::check_axis_names(golden.at("params").at("names").get<std::vector<std::string>>()); };
  if (expect.contains("error")) return expect_error(expect.at("error"), kCodes, check);
  check();
  expect_equal("ok", true, expect.at("ok"));
}

}  // namespace ringwright::golden

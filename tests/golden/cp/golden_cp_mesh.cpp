#include <fmt/format.h>

#include <functional>
#include <map>

#include "shared/base/error.h"
#include "shared/mesh/mesh.h"
#include "tests/golden/cp/golden_cp.h"
#include "tests/golden/golden_cases.h"

namespace ringwright::golden {
namespace {

using mesh::Mesh;
using mesh::ParallelismSizes;
using nlohmann::json;

json json_of(const std::optional<int>& value) { return value ? json(*value) : json(nullptr); }

ParallelismSizes sizes_from(const json& params) {
  ParallelismSizes sizes;
  for (const auto& [key, value] : params.items()) {
    if (value.is_null()) continue;
    static const std::map<std::string, int ParallelismSizes::*> fields = {{"tp_size", &ParallelismSizes::tp},
                                                                          {"pp_size", &ParallelismSizes::pp},
                                                                          {"cp_size", &ParallelismSizes::cp},
                                                                          {"ep_size", &ParallelismSizes::ep}};
    if (key == "dp_size") {
      sizes.dp = value.get<int>();
    } else if (key == "dp_replicate_size") {
      sizes.dp_replicate = value.get<int>();
    } else {
      sizes.*fields.at(key) = value.get<int>();
    }
  }
  return sizes;
}

Mesh build(const json& params, const ParallelismSizes& sizes) {
  const mesh::Strategy strategy = mesh::strategy_from_name(params.at("strategy").get<std::string>());
  if (!params.contains("ranks") || params.at("ranks").is_null()) return Mesh::build(params.at("world").get<int>(), sizes, strategy);
  return Mesh::build(params.at("ranks").get<std::vector<int>>(), sizes, strategy);
}

// A recorded accident: upstream lets an explicit dp leave ranks unused, the contract refuses that on every rank.
bool refused_by_contract(const json& golden, const ParallelismSizes& sizes) {
  const json& params = golden.at("params");
  const bool all_ranks = !params.contains("ranks") || params.at("ranks").is_null();
  return golden.contains("quirk") && all_ranks && sizes.dp.value_or(0) > 0 &&
         sizes.pp * *sizes.dp * sizes.cp * sizes.tp != params.at("world").get<int>();
}

// `expect` of a case that the contract alone refuses names no error: it is a bad argument.
void expect_refused(const json& expect, const json& params, const ParallelismSizes& sizes) {
  static const json bad_argument = {{"class", "ValueError"}};
  expect_error(expect.contains("error") ? expect.at("error") : bad_argument, {.bad_argument = {"RW-MESH-"}}, [&] { build(params, sizes); });
}

json sizes_of(const Mesh& mesh) {
  const mesh::ResolvedSizes sizes = mesh.sizes();
  return {{"pp_size", sizes.pp},
          {"tp_size", sizes.tp},
          {"cp_size", sizes.cp},
          {"ep_size", sizes.ep},
          {"dp_size", json_of(sizes.dp)},
          {"dp_replicate_size", json_of(sizes.dp_replicate)},
          {"dp_shard_size", sizes.dp_shard}};
}

json axis_names_of(const Mesh& mesh) {
  const bool expert = mesh.sizes().ep > 1;
  return {{"dp_axis_names", {"dp_replicate", "dp_shard_cp"}},
          {"cp_axis_name", "cp"},
          {"tp_axis_name", "tp"},
          {"ep_axis_name", expert ? json("ep") : json(nullptr)},
          {"ep_shard_axis_names", expert ? json({"ep_shard"}) : json(nullptr)}};
}

void check_axis_names(const Mesh& mesh, const json& expected) {
  expect_equal("axis names", axis_names_of(mesh), expected);
  // Each name must be an axis that the mesh itself answers for.
  for (const json& names : expected) {
    for (const json& name : names.is_array() ? names : names.is_null() ? json::array() : json::array({names}))
      mesh.axis_size(name.get<std::string>());
  }
}

void check_common(const Mesh& mesh, const json& expected) {
  const mesh::Submesh& root = mesh.root();
  const std::map<std::string, std::function<json()>> fields = {
      {"sizes", [&] { return sizes_of(mesh); }},
      {"pp_enabled", [&] { return json(mesh.sizes().pp > 1); }},
      {"axes", [&] { return json(root.axes); }},
      {"shape", [&] { return json(root.shape); }},
      {"mesh", [&] { return json(root.ranks); }},
      {"device_mesh", [&] { return root.axes.empty() ? json(nullptr) : json(root.axes); }},
      {"moe_axes", [&] { return json(mesh.expert_mesh(mesh.ranks().front()).value().axes); }},
      {"moe_shape", [&] { return json(mesh.expert_mesh(mesh.ranks().front()).value().shape); }},
  };
  for (const auto& [key, value] : expected.items()) {
    if (key == "axis_names") {
      check_axis_names(mesh, value);
    } else {
      expect_equal(key, fields.at(key)(), value);
    }
  }
}

json coordinate_of(const Mesh& mesh, int rank) {
  const auto coordinate = mesh.coordinate(rank);
  return coordinate ? json(*coordinate) : json(nullptr);
}

void check_rank(const Mesh& mesh, int rank, const json& expected) {
  for (const auto& [key, value] : expected.items()) {
    const std::string what = fmt::format("rank {} {}", rank, key);
    if (key == "coordinate") {
      expect_equal(what, coordinate_of(mesh, rank), value);
    } else if (key == "groups") {
      json groups;
      for (const std::string& axis : mesh.group_axes()) groups[axis] = mesh.group(axis, rank);
      expect_equal(what, groups, value);
    } else if (key == "moe_mesh") {
      expect_equal(what, mesh.expert_mesh(rank).value().ranks, value);
    } else if (key == "fsdp_dp_mesh") {
      const mesh::Submesh found = mesh.fsdp_mesh(rank).value();
      expect_equal(what, {{"axes", found.axes}, {"shape", found.shape}, {"ranks", found.ranks}}, value);
    } else if (key == "member") {
      expect_equal(what, mesh.coordinate(rank).has_value(), value);
    } else if (key == "size_property_error") {
      expect_equal(what, mesh.sizes().cp, mesh.axis_size("cp"));  // the contract answers from the shape
    } else {
      throw Mismatch(fmt::format("a field that this program does not know: {}", key));
    }
  }
}

void check_row(const json& golden, const json& row) {
  const ParallelismSizes sizes = sizes_from(row.at("sizes"));
  const json& expect = row.at("expect");
  if (expect.contains("error") || refused_by_contract(golden, sizes)) return expect_refused(expect, golden.at("params"), sizes);
  const Mesh mesh = build(golden.at("params"), sizes);
  expect_equal("shape", mesh.root().shape, expect.at("shape"));
  expect_equal("sizes", sizes_of(mesh), expect.at("sizes"));
  const auto expert = mesh.expert_mesh(mesh.ranks().front());
  expect_equal("ep_shard", expert ? json(expert->shape.front()) : json(nullptr), expect.at("ep_shard"));
}

}  // namespace

void check_build_mesh(const json& golden) {
  const json& params = golden.at("params");
  const json& expect = golden.at("expect");
  const ParallelismSizes sizes = sizes_from(params.at("sizes"));
  if (expect.contains("error") || refused_by_contract(golden, sizes)) return expect_refused(expect, params, sizes);
  const Mesh mesh = build(params, sizes);
  check_common(mesh, expect.at("common"));
  int rank = 0;
  for (const json& expected : expect.at("per_rank")) check_rank(mesh, rank++, expected);
}

void check_mesh_sweep(const json& golden) {
  for (const json& row : golden.at("expect").at("rows")) {
    try {
      check_row(golden, row);
    } catch (const std::exception& error) {
      throw Mismatch(fmt::format("{}: {}", row.at("sizes").dump(), error.what()));
    }
  }
}

}  // namespace ringwright::golden

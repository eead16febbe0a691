#include "shared/mesh/mesh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "shared/base/error.h"
#include "shared/mesh/validate.h"

namespace ringwright::mesh {
namespace {

// Root axes that each name runs along, in the order (pp, dp_replicate, dp_shard, cp, tp).
struct NamedAxis {
  std::string_view name;
  std::array<bool, 5> along;
};

constexpr std::array<NamedAxis, 8> kNamedAxes = {{
    {"pp", {true, false, false, false, false}},
    {"dp_replicate", {false, true, false, false, false}},
    {"dp_shard", {false, false, true, false, false}},
    {"cp", {false, false, false, true, false}},
    {"tp", {false, false, false, false, true}},
    {"dp", {false, true, true, false, false}},
    {"dp_shard_cp", {false, false, true, true, false}},
    {"dp_cp", {false, true, true, true, false}},
}};

bool is_expert_axis(std::string_view axis) { return axis == "ep" || axis == "ep_shard"; }

[[noreturn]] void unknown_axis(std::string_view axis, const std::vector<std::string>& allowed) {
  throw Error({.code = "RW-MESH-007",
               .what = fmt::format("this mesh has no axis called {}", axis),
               .where = std::string(axis),
               .expected = allowed.empty() ? "no axis at all: the strategy ddp has no mesh" : fmt::format("one of {}", fmt::join(allowed, ", ")),
               .action = "use one of these names; they are case-sensitive",
               .exit_code = ExitCode::refused});
}

void check_rank_list(const std::vector<int>& ranks) {
  std::unordered_set<int> seen;
  for (int rank : ranks) {
    if (rank >= 0 && seen.insert(rank).second) continue;
    throw Error(
        {.code = "RW-MESH-006",
         .what = rank < 0 ? fmt::format("rank {} in the rank list is negative", rank) : fmt::format("rank {} is in the rank list twice", rank),
         .where = fmt::format("ranks [{}]", fmt::join(ranks, ", ")),
         .expected = "distinct global ranks from 0 on",
         .action = "name each rank once",
         .exit_code = ExitCode::refused});
  }
}

}  // namespace

Mesh Mesh::build(int world_size, const ParallelismSizes& sizes, Strategy strategy) {
  const CheckedSizes found = checked(world_size, sizes, strategy);
  Mesh mesh;
  mesh.ranks_.resize(static_cast<size_t>(world_size));
  std::iota(mesh.ranks_.begin(), mesh.ranks_.end(), 0);
  mesh.shape_ = {found.pp, found.dp_replicate, found.dp_shard, found.cp, found.tp};
  mesh.ep_ = found.ep;
  mesh.strategy_ = strategy;
  return mesh;
}

Mesh Mesh::build(const std::vector<int>& ranks, const ParallelismSizes& sizes, Strategy strategy) {
  check_rank_list(ranks);
  const int count = static_cast<int>(ranks.size());
  if (const auto fault = find_fault(count, sizes, strategy); fault && (fault->code == "RW-MESH-001" || fault->code == "RW-MESH-002")) {
    throw Error({.code = "RW-MESH-006",
                 .what = fmt::format("the rank list has {} ranks, which does not fit the sizes: {}", count, fault->what),
                 .where = fmt::format("ranks [{}]", fmt::join(ranks, ", ")),
                 .expected = fault->expected,
                 .action = "list as many ranks as the sizes multiply to",
                 .exit_code = ExitCode::refused});
  }
  Mesh mesh = build(count, sizes, strategy);
  mesh.ranks_ = ranks;
  return mesh;
}

Submesh Mesh::root() const {
  if (strategy_ == Strategy::ddp) return {};
  if (strategy_ == Strategy::megatron_fsdp) return {{"dp", "cp", "tp"}, {shape_[2], shape_[3], shape_[4]}, ranks_};
  return {{kRootAxes.begin(), kRootAxes.end()}, {shape_.begin(), shape_.end()}, ranks_};
}

ResolvedSizes Mesh::sizes() const {
  if (strategy_ == Strategy::ddp) return {};
  ResolvedSizes sizes{.pp = shape_[0], .tp = shape_[4], .cp = shape_[3], .ep = ep_, .dp_shard = 1, .dp = shape_[1] * shape_[2], .dp_replicate = {}};
  if (strategy_ == Strategy::fsdp2) {
    sizes.dp_shard = shape_[2];
    sizes.dp_replicate = shape_[1];
  }
  return sizes;
}

std::vector<std::string> Mesh::group_axes() const {
  if (strategy_ == Strategy::ddp) return {};
  std::vector<std::string> names;
  if (strategy_ == Strategy::megatron_fsdp) {
    names = {"dp", "cp", "tp"};
    if (shape_[3] > 1) names.emplace_back("dp_cp");
    return names;
  }
  for (const NamedAxis& axis : kNamedAxes) names.emplace_back(axis.name);
  if (ep_ > 1) names.insert(names.end(), {"ep_shard", "ep"});
  return names;
}

Mesh::Axes Mesh::resolve(std::string_view axis) const {
  std::vector<std::string> allowed = group_axes();
  if (std::find(allowed.begin(), allowed.end(), axis) != allowed.end()) {
    for (const NamedAxis& row : kNamedAxes) {
      if (row.name == axis) return row.along;
    }
  }
  if (ep_ == 1 && strategy_ == Strategy::fsdp2) allowed.insert(allowed.end(), {"ep_shard", "ep"});
  unknown_axis(axis, allowed);
}

int Mesh::axis_size(std::string_view axis) const {
  if (strategy_ == Strategy::fsdp2 && is_expert_axis(axis)) return axis == "ep" ? ep_ : stage_size() / ep_;
  const Axes along = resolve(axis);
  int size = 1;
  for (size_t i = 0; i < along.size(); ++i) size *= along[i] ? shape_[i] : 1;
  return size;
}

std::optional<int> Mesh::index_of(int global_rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), global_rank);
  if (found == ranks_.end()) return std::nullopt;
  return static_cast<int>(found - ranks_.begin());
}

std::array<int, 5> Mesh::coordinate_of(int index) const {
  std::array<int, 5> coordinate{};
  for (size_t i = coordinate.size(); i-- > 0;) {
    coordinate[i] = index % shape_[i];
    index /= shape_[i];
  }
  return coordinate;
}

std::optional<std::array<int, 5>> Mesh::coordinate(int global_rank) const {
  if (strategy_ == Strategy::ddp) return std::nullopt;
  const std::optional<int> index = index_of(global_rank);
  if (!index) return std::nullopt;
  return coordinate_of(*index);
}

std::vector<int> Mesh::members(const Axes& along, int index) const {
  std::vector<int> indices = {index};
  int stride = 1;
  // From the slowest axis to the fastest, each axis multiplies the list; so the order is row-major.
  std::array<int, 5> strides{};
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape_[i];
  }
  const std::array<int, 5> own = coordinate_of(index);
  for (size_t i = 0; i < along.size(); ++i) {
    if (!along[i]) continue;
    std::vector<int> wider;
    wider.reserve(indices.size() * static_cast<size_t>(shape_[i]));
    for (int base : indices) {
      for (int k = 0; k < shape_[i]; ++k) wider.push_back(base + (k - own[i]) * strides[i]);
    }
    indices = std::move(wider);
  }
  for (int& i : indices) i = ranks_[static_cast<size_t>(i)];
  return indices;
}

std::vector<int> Mesh::expert_members(bool shard, int index) const {
  const int stage_start = index - index % stage_size();
  const int within = index - stage_start;
  const int count = shard ? stage_size() / ep_ : ep_;
  const int start = shard ? within % ep_ : within - within % ep_;
  std::vector<int> result;
  for (int k = 0; k < count; ++k) result.push_back(ranks_[static_cast<size_t>(stage_start + start + k * (shard ? ep_ : 1))]);
  return result;
}

std::vector<int> Mesh::group(std::string_view axis, int global_rank) const {
  const bool expert = strategy_ == Strategy::fsdp2 && is_expert_axis(axis);
  const Axes along = expert ? Axes{} : resolve(axis);
  const std::optional<int> index = index_of(global_rank);
  if (!index) return {};
  return expert ? expert_members(axis == "ep_shard", *index) : members(along, *index);
}

std::vector<std::vector<int>> Mesh::groups(std::string_view axis) const {
  const bool expert = strategy_ == Strategy::fsdp2 && is_expert_axis(axis);
  const Axes along = expert ? Axes{} : resolve(axis);
  std::vector<std::vector<int>> result;
  for (int index = 0; index < size(); ++index) {
    std::vector<int> group = expert ? expert_members(axis == "ep_shard", index) : members(along, index);
    if (group.front() == ranks_[static_cast<size_t>(index)]) result.push_back(std::move(group));
  }
  return result;
}

std::optional<Submesh> Mesh::expert_mesh(int global_rank) const {
  const std::optional<int> index = index_of(global_rank);
  if (ep_ == 1 || !index) return std::nullopt;
  const auto begin = ranks_.begin() + (*index - *index % stage_size());
  return Submesh{{"ep_shard", "ep"}, {stage_size() / ep_, ep_}, {begin, begin + stage_size()}};
}

std::optional<Submesh> Mesh::fsdp_mesh(int global_rank) const {
  const std::optional<int> index = index_of(global_rank);
  if (strategy_ != Strategy::fsdp2 || !index) return std::nullopt;
  const bool replicated = shape_[1] > 1;
  const bool with_cp = shape_[3] > 1;
  Submesh result;
  if (replicated) {
    result.axes.emplace_back("dp_replicate");
    result.shape.push_back(shape_[1]);
  }
  result.axes.emplace_back(with_cp ? "dp_shard_cp" : "dp_shard");
  result.shape.push_back(shape_[2] * (with_cp ? shape_[3] : 1));
  result.ranks = members({false, replicated, true, with_cp, false}, *index);
  return result;
}

}  // namespace ringwright::mesh

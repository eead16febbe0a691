#include "shared/mesh/mesh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

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

constexpr std::array<std::string_view, 2> kExpertAxes = {"ep_shard", "ep"};

bool is_expert_axis(std::string_view axis) { return axis == "ep" || axis == "ep_shard"; }

[[noreturn]] void unknown_axis(std::string_view axis, const std::vector<std::string>& allowed) {
  throw Error({.code = "RW-MESH-007",
               .what = fmt::format("this mesh has no axis called {}", axis),
               .where = std::string(axis),
               .expected = allowed.empty() ? "no axis at all: the strategy ddp has no mesh" : fmt::format("one of {}", fmt::join(allowed, ", ")),
               .action = "use one of these names; they are case-sensitive",
               .exit_code = ExitCode::refused});
}

}  // namespace

void check_axis_names(const std::vector<std::string>& names) {
  std::vector<std::string> allowed;
  for (const NamedAxis& axis : kNamedAxes) allowed.emplace_back(axis.name);
  allowed.insert(allowed.end(), kExpertAxes.begin(), kExpertAxes.end());
  for (const std::string& name : names)
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) unknown_axis(name, allowed);
}

Mesh Mesh::build(int world_size, const ParallelismSizes& sizes, Strategy strategy) {
  (void)checked(world_size, sizes, strategy);
  std::vector<int> ranks(static_cast<size_t>(world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return build(ranks, sizes, strategy);
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
  const CheckedSizes found = checked(count, sizes, strategy);
  Mesh mesh;
  mesh.ranks_ = ranks;
  mesh.shape_ = {found.pp, found.dp_replicate, found.dp_shard, found.cp, found.tp};
  mesh.ep_ = found.ep;
  if (strategy == Strategy::ddp) {
    mesh.kind_ = Kind::none;
  } else if (strategy == Strategy::megatron_fsdp) {
    mesh.kind_ = Kind::one_data_axis;
    mesh.root_ = {{"dp", "cp", "tp"}, {found.dp_shard, found.cp, found.tp}, ranks};
  } else {
    mesh.root_ = {{kRootAxes.begin(), kRootAxes.end()}, {mesh.shape_.begin(), mesh.shape_.end()}, ranks};
  }
  return mesh;
}

ResolvedSizes Mesh::sizes() const {
  if (kind_ == Kind::none) return {};
  ResolvedSizes sizes{.pp = shape_[0], .tp = shape_[4], .cp = shape_[3], .ep = ep_, .dp_shard = 1, .dp = shape_[1] * shape_[2], .dp_replicate = {}};
  if (kind_ == Kind::five_axes) {
    sizes.dp_shard = shape_[2];
    sizes.dp_replicate = shape_[1];
  }
  return sizes;
}

std::vector<std::string> Mesh::group_axes() const {
  std::vector<std::string> names;
  if (kind_ == Kind::one_data_axis) {
    names = root_.axes;
    if (shape_[3] > 1) names.emplace_back("dp_cp");
  } else if (kind_ == Kind::five_axes) {
    for (const NamedAxis& axis : kNamedAxes) names.emplace_back(axis.name);
  }
  if (ep_ > 1) names.insert(names.end(), kExpertAxes.begin(), kExpertAxes.end());
  return names;
}

Mesh::Axes Mesh::resolve(std::string_view axis) const {
  std::vector<std::string> allowed = group_axes();
  if (std::find(allowed.begin(), allowed.end(), axis) != allowed.end()) {
    for (const NamedAxis& row : kNamedAxes) {
      if (row.name == axis) return row.along;
    }
  }
  if (ep_ == 1 && kind_ == Kind::five_axes) allowed.insert(allowed.end(), kExpertAxes.begin(), kExpertAxes.end());
  unknown_axis(axis, allowed);
}

int Mesh::axis_size(std::string_view axis) const {
  if (has_expert_axes() && is_expert_axis(axis)) return axis == "ep" ? ep_ : stage_size() / ep_;
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

std::optional<std::vector<int>> Mesh::coordinate(int global_rank) const {
  const auto found = std::find(root_.ranks.begin(), root_.ranks.end(), global_rank);
  if (found == root_.ranks.end()) return std::nullopt;
  auto index = static_cast<int>(found - root_.ranks.begin());
  std::vector<int> coordinate(root_.shape.size());
  for (size_t i = coordinate.size(); i-- > 0;) {
    coordinate[i] = index % root_.shape[i];
    index /= root_.shape[i];
  }
  return coordinate;
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
  const bool expert = has_expert_axes() && is_expert_axis(axis);
  const Axes along = expert ? Axes{} : resolve(axis);
  const std::optional<int> index = index_of(global_rank);
  if (!index) return {};
  return expert ? expert_members(axis == "ep_shard", *index) : members(along, *index);
}

std::vector<std::vector<int>> Mesh::groups(std::string_view axis) const {
  const bool expert = has_expert_axes() && is_expert_axis(axis);
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
  if (kind_ != Kind::five_axes || !index) return std::nullopt;
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

// Explicit meshes: a grid of ranks with names for its axes becomes the same topology as one that was built from sizes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "shared/base/error.h"
#include "shared/mesh/mesh.h"
#include "shared/mesh/validate.h"

namespace ringwright::mesh {
namespace {

constexpr size_t kDataShardAxis = 2;  // dp takes the place of dp_shard

std::string text_of(const Submesh& grid) {
  return fmt::format("axes [{}], shape [{}], {} ranks", fmt::join(grid.axes, ", "), fmt::join(grid.shape, ", "), grid.ranks.size());
}

[[noreturn]] void refuse(const Submesh& grid, const std::string& what, const std::string& expected) {
  throw Error({.code = "RW-MESH-011",
               .what = what,
               .where = text_of(grid),
               .expected = expected,
               .action = "correct the axes, the shape or the rank grid",
               .exit_code = ExitCode::refused});
}

void check_axes(const Submesh& grid) {
  check_axis_names(grid.axes);
  const std::set<std::string> names(grid.axes.begin(), grid.axes.end());
  if (names.size() != grid.axes.size()) refuse(grid, "an axis of the grid is named twice", "each axis once");
  for (const std::string& name : grid.axes) {
    const bool root = std::find(kRootAxes.begin(), kRootAxes.end(), name) != kRootAxes.end() || name == "dp";
    if (!root) {
      refuse(grid, fmt::format("{} is a view over other axes of a mesh, so it cannot be an axis of the grid", name),
             fmt::format("axes out of {}, or dp for both data axes", fmt::join(kRootAxes, ", ")));
    }
  }
  if (names.count("dp") > 0 && (names.count("dp_shard") > 0 || names.count("dp_replicate") > 0))
    refuse(grid, "the grid has the axis dp and a part of it", "dp, or dp_replicate and dp_shard");
}

void check_shape(const Submesh& grid) {
  if (grid.axes.empty() || grid.axes.size() != grid.shape.size())
    refuse(grid, fmt::format("{} axes have {} sizes", grid.axes.size(), grid.shape.size()), "one size for each of at least one axis");
  size_t count = 1;
  for (const int size : grid.shape) {
    if (size < 1 || count > grid.ranks.size()) refuse(grid, "the shape does not multiply to the number of ranks", "sizes from 1 on");
    count *= static_cast<size_t>(size);
  }
  if (count != grid.ranks.size())
    refuse(grid, fmt::format("the shape multiplies to {}, the grid has {} ranks", count, grid.ranks.size()), "as many ranks as the shape has places");
}

// Where each root axis lies in the grid: its size, and the step from one place to the next.
struct Lane {
  int size = 1;
  size_t stride = 0;
};

std::array<Lane, 5> lanes_of(const Submesh& grid) {
  std::array<Lane, 5> lanes;
  size_t stride = 1;
  for (size_t i = grid.axes.size(); i-- > 0;) {
    const auto root = std::find(kRootAxes.begin(), kRootAxes.end(), grid.axes[i]);
    const size_t axis = root == kRootAxes.end() ? kDataShardAxis : static_cast<size_t>(root - kRootAxes.begin());
    lanes[axis] = {grid.shape[i], stride};
    stride *= static_cast<size_t>(grid.shape[i]);
  }
  return lanes;
}

// The grid's ranks in the order of the five root axes.
std::vector<int> ranks_in_root_order(const Submesh& grid, const std::array<Lane, 5>& lanes) {
  std::vector<size_t> places = {0};
  for (const Lane& lane : lanes) {
    std::vector<size_t> wider;
    wider.reserve(places.size() * static_cast<size_t>(lane.size));
    for (const size_t base : places)
      for (int k = 0; k < lane.size; ++k) wider.push_back(base + static_cast<size_t>(k) * lane.stride);
    places = std::move(wider);
  }
  std::vector<int> ranks;
  ranks.reserve(places.size());
  for (const size_t place : places) ranks.push_back(grid.ranks[place]);
  return ranks;
}

}  // namespace

Mesh Mesh::from_grid(const Submesh& grid, int ep) {
  check_axes(grid);
  check_shape(grid);
  check_rank_list(grid.ranks);
  const std::array<Lane, 5> lanes = lanes_of(grid);
  Mesh mesh;
  mesh.ranks_ = ranks_in_root_order(grid, lanes);
  for (size_t i = 0; i < lanes.size(); ++i) mesh.shape_[i] = lanes[i].size;
  mesh.ep_ = std::max(ep, 1);
  if (mesh.stage_size() % mesh.ep_ != 0) {
    throw Error({.code = "RW-MESH-005",
                 .what = fmt::format("ep = {} does not divide the {} ranks of a pipeline stage", ep, mesh.stage_size()),
                 .where = text_of(grid),
                 .expected = fmt::format("an ep that divides {}", mesh.stage_size()),
                 .action = "change ep or the grid",
                 .exit_code = ExitCode::refused});
  }
  if (std::find(grid.axes.begin(), grid.axes.end(), "dp") != grid.axes.end()) mesh.kind_ = Kind::one_data_axis;
  mesh.root_ = grid;
  return mesh;
}

}  // namespace ringwright::mesh

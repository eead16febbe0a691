// Topology of a job: dims, ranks, groups. Knows nothing of tensors or processes, and nothing of policies (setup.h).
// Rules: context-parallel contract, section 8 (FSDP2): root axes (pp, dp_replicate, dp_shard, cp, tp), row-major, tp varies fastest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::mesh {

inline constexpr std::array<std::string_view, 5> kRootAxes = {"pp", "dp_replicate", "dp_shard", "cp", "tp"};

// What was asked for. <= 0 or absent counts as 1 (dp: as "infer").
struct ParallelismSizes {
  std::optional<int> dp = std::nullopt;
  std::optional<int> dp_replicate = std::nullopt;
  int tp = 1, pp = 1, cp = 1, ep = 1;
};

// How parameters are laid over the data ranks. FSDP2 uses all five root axes; Megatron-FSDP has the axes (dp, cp, tp) and refuses pp, ep and
// dp_replicate above 1; DDP has no mesh at all and refuses every size above 1.
enum class Strategy { fsdp2, megatron_fsdp, ddp };

// Case-insensitive: fsdp2, megatron_fsdp = megatron-fsdp = mfsdp, ddp. RW-MESH-010: another name (lists the known).
Strategy strategy_from_name(std::string_view name);
std::string_view name_of(Strategy strategy);

// Names that some mesh may have for an axis: the root axes, their flattened views, the expert axes. RW-MESH-007: another one (lists these).
void check_axis_names(const std::vector<std::string>& names);

// Sizes as a mesh answers them. Without a mesh (DDP) they are 1, and both dp and dp_replicate unknown.
struct ResolvedSizes {
  int pp = 1, tp = 1, cp = 1, ep = 1, dp_shard = 1;
  std::optional<int> dp, dp_replicate;
};

// Axis names, their sizes, and the ranks in row-major order.
struct Submesh {
  std::vector<std::string> axes;
  std::vector<int> shape;
  std::vector<int> ranks;
};

class Mesh {
 public:
  // Throws Error, exit code 3, with the numbers: RW-MESH-001 the world is not a multiple of pp*cp*tp, RW-MESH-002 the product does not equal the
  // world, RW-MESH-003 dp is not a multiple of dp_replicate, RW-MESH-004 dp_replicate must be 1 or less than dp, RW-MESH-005 ep does not divide
  // dp*cp*tp, RW-MESH-008 a size that the strategy has no axis for, RW-MESH-009 a world without ranks. A given dp is never changed.
  static Mesh build(int world_size, const ParallelismSizes& sizes, Strategy strategy = Strategy::fsdp2);
  // Over an ordered list of distinct global ranks instead of 0..n-1. RW-MESH-006: count or distinctness.
  static Mesh build(const std::vector<int>& ranks, const ParallelismSizes& sizes, Strategy strategy = Strategy::fsdp2);
  // An explicit mesh: axes in any order out of pp, dp_replicate, dp_shard (or dp for both), cp, tp, with a row-major grid of ranks. An axis that is
  // not there has size 1. RW-MESH-011: axes, shape and ranks do not fit each other; RW-MESH-005 to -007 as above.
  static Mesh from_grid(const Submesh& grid, int ep = 1);

  int size() const { return static_cast<int>(ranks_.size()); }
  // Global ranks, row-major over (pp, dp_replicate, dp_shard, cp, tp).
  const std::vector<int>& ranks() const { return ranks_; }
  // The mesh as it was built: the strategy's axes (all five root axes, (dp, cp, tp), or none), or the explicit grid.
  const Submesh& root() const { return root_; }
  ResolvedSizes sizes() const;
  int axis_size(std::string_view axis) const;  // root axes, dp, dp_shard_cp, dp_cp, ep, ep_shard. RW-MESH-007: unknown axis, lists the allowed
  // Position along the axes of root(); nullopt for a rank that is no member, and without axes.
  std::optional<std::vector<int>> coordinate(int global_rank) const;
  // Global ranks that share all other coordinates with `global_rank`, in rank order along the axis. Also for flattened axes
  // (dp, dp_shard_cp, dp_cp) and, with ep > 1, ep and ep_shard. Empty for a rank that is no member.
  std::vector<int> group(std::string_view axis, int global_rank) const;
  // Every group of the axis, in the order in which all ranks must create them.
  std::vector<std::vector<int>> groups(std::string_view axis) const;
  // Names that group() knows here: the mesh's axes, the flattened ones, and with ep > 1 ep_shard and ep.
  std::vector<std::string> group_axes() const;
  // (ep_shard, ep) over the ranks of the pipeline stage of `global_rank`; nullopt when ep is 1, or for a rank that is no member.
  std::optional<Submesh> expert_mesh(int global_rank) const;
  // The ranks over which FSDP shards and replicates parameters, as seen from `global_rank`: dp_shard, dp_shard_cp with cp > 1, and dp_replicate in
  // front of it when that is above 1. nullopt for a rank that is no member, and without an axis dp_shard.
  std::optional<Submesh> fsdp_mesh(int global_rank) const;

 private:
  using Axes = std::array<bool, 5>;  // which root axes a group runs along
  enum class Kind { five_axes, one_data_axis, none };

  Axes resolve(std::string_view axis) const;
  std::array<int, 5> coordinate_of(int index) const;
  std::vector<int> members(const Axes& along, int index) const;
  std::vector<int> expert_members(bool shard, int index) const;
  std::optional<int> index_of(int global_rank) const;
  bool has_expert_axes() const { return kind_ == Kind::five_axes || ep_ > 1; }
  int stage_size() const { return shape_[1] * shape_[2] * shape_[3] * shape_[4]; }

  std::vector<int> ranks_;
  std::array<int, 5> shape_{1, 1, 1, 1, 1};
  int ep_ = 1;
  Kind kind_ = Kind::five_axes;  // one_data_axis: dp stands in the place of dp_shard
  Submesh root_;
};

// Values of `axis` (dp, dp_replicate, tp, pp, cp, ep) that would make a valid mesh while the others are held (for offers in errors and in the
// console). RW-MESH-007: another axis.
std::vector<int> valid_values(std::string_view axis, int world_size, const ParallelismSizes& sizes, Strategy strategy = Strategy::fsdp2);

// Throws Error RW-MESH-012 (exit code 3), with the sizes that would do, where ep does not divide the number of experts: each rank of an expert group
// holds as many as the others.
void check_experts(int64_t experts, int world_size, const ParallelismSizes& sizes, Strategy strategy = Strategy::fsdp2);

// One text for each size that is 0 or less and therefore counts as absent.
std::vector<std::string> size_warnings(const ParallelismSizes& sizes);

}  // namespace ringwright::mesh

// Topology of a job: dims, ranks, groups. Knows nothing of tensors or processes.
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
  std::optional<int> dp;
  int dp_replicate = 1;
  int tp = 1, pp = 1, cp = 1, ep = 1;
};

class Mesh {
 public:
  // Throws Error, exit code 3, with the numbers: RW-MESH-001 the world is not a multiple of pp*cp*tp, RW-MESH-002 the product does not equal the
  // world, RW-MESH-003 dp is not a multiple of dp_replicate, RW-MESH-004 dp_replicate must be 1 or less than dp, RW-MESH-005 ep does not divide dp*cp*tp.
  // A given dp is never changed.
  static Mesh build(int world_size, const ParallelismSizes& sizes);
  // Over an ordered list of distinct global ranks instead of 0..n-1. RW-MESH-006: count or distinctness.
  static Mesh build(const std::vector<int>& ranks, const ParallelismSizes& sizes);

  int size() const { return static_cast<int>(ranks_.size()); }
  int axis_size(std::string_view axis) const;  // root axes, dp, dp_shard_cp, dp_cp, ep, ep_shard. RW-MESH-007: unknown axis, lists the allowed
  // Position on the five root axes; nullopt for a rank that is no member.
  std::optional<std::array<int, 5>> coordinate(int global_rank) const;
  // Global ranks that share all other coordinates with `global_rank`, in rank order along the axis. Also for flattened axes
  // (dp, dp_shard_cp, dp_cp) and, with ep > 1, ep and ep_shard.
  std::vector<int> group(std::string_view axis, int global_rank) const;
  // Every group of the axis, in the order in which all ranks must create them.
  std::vector<std::vector<int>> groups(std::string_view axis) const;

 private:
  std::vector<int> ranks_;
  std::array<int, 5> shape_{1, 1, 1, 1, 1};
  int ep_ = 1;
};

// Values of `axis` that would make a valid mesh while the others are held (for offers in errors and in the console).
std::vector<int> valid_values(std::string_view axis, int world_size, const ParallelismSizes& sizes);

}  // namespace ringwright::mesh

// Sums over stretches of a series, so that no zoom walks its points.
//
// A bucket of level n sums up the 4^n steps from a multiple of 4^n on; level 0 is the points themselves. 16 neighbouring buckets are a block, one
// row of table `pyramid`. A block is stored once a step beyond it has come, and only when it has more points than buckets. So where a block is
// missing before the newest step there are at most 16 points, and after it the level below goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "shared/history/database.h"

namespace ringwright::history {

// Steps of metrics lie within; what a worker sends beyond is kept as a malformed event.
inline constexpr int64_t kStepMax = int64_t{1} << 53;
inline constexpr int kPyramidLevelMax = 16;
inline constexpr int kBlockBuckets = 16;

// Sums over points of one series. Non-finite ones are counted and never enter minimum, maximum and total.
struct Bucket {
  int64_t first_step = 0;  // the bucket's own first step, not that of a point
  int64_t finite = 0, nans = 0, positive_infinities = 0, negative_infinities = 0;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -std::numeric_limits<double>::infinity();
  int64_t minimum_step = 0, maximum_step = 0;  // the first point that has it
  int64_t nonfinite_step = 0;                  // the first non-finite point
  double total = 0;
  double last = 0;  // the last point's value, of any kind

  int64_t nonfinite() const { return nans + positive_infinities + negative_infinities; }
  int64_t points() const { return finite + nonfinite(); }
  // Both in step order.
  void add(int64_t step, double value);
  void add(const Bucket& later);
};

// A block's buckets that have points. first_step of a bucket is a multiple of 4^level within the block.
std::string encode_block(const std::vector<Bucket>& buckets, int level);
// Throws Error RW-STORE-006 for bytes that are no block.
std::vector<Bucket> decode_block(std::string_view bytes, int level, int64_t block);

// Reads and keeps the pyramids of one file's series.
class Pyramid {
 public:
  using Take = std::function<void(const Bucket&)>;
  explicit Pyramid(Database& database) : database_(database) {}

  // Hands out, in step order, buckets of at most `level` that together have all points in [from, to). `last_step`: of the series.
  void read(int64_t series, int level, int64_t from, int64_t to, int64_t last_step, const Take& take);
  // All of [from, to) as one bucket.
  Bucket sum(int64_t series, int64_t from, int64_t to, int64_t last_step);
  // Writes the blocks that have become complete or have changed. `changed_steps`: of the new or replaced points, ascending; `old_last_step`: the
  // series' last step before them, or any of the new ones where there was none.
  void update(int64_t series, const std::vector<int64_t>& changed_steps, int64_t old_last_step, int64_t last_step);
  // The bytes of a block as they are stored; empty where it has no more points than buckets.
  std::string make_block(int64_t series, int level, int64_t block, int64_t last_step);

 private:
  void read_points(int64_t series, int64_t from, int64_t to, const Take& take);
  void read_blocks(int64_t series, int level, int64_t from, int64_t to, int64_t last_step, const Take& take);
  void write_block(int64_t series, int level, int64_t block, int64_t last_step);

  Database& database_;
};

}  // namespace ringwright::history

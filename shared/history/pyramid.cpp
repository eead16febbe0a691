#include "shared/history/pyramid.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "shared/history/metric_value.h"
#include "shared/history/sql.h"

namespace ringwright::history {
namespace {

// Steps of a block of this level, and of a bucket, as powers of two.
constexpr int bucket_bits(int level) { return 2 * level; }
constexpr int block_bits(int level) { return 2 * level + 4; }

int64_t align_down(int64_t step, int bits) { return step >> bits << bits; }
int64_t align_up(int64_t step, int bits) { return align_down(step + (int64_t{1} << bits) - 1, bits); }

// One bucket in a block: its place and whether it has non-finite points, counts, offsets of steps from its first one, then the sums.
struct PackedBucket {
  uint8_t place, has_nonfinite;
  uint32_t finite, minimum_offset, maximum_offset;
  double minimum, maximum, total, last;
};
struct PackedNonfinite {
  uint32_t nans, positive_infinities, negative_infinities, first_offset;
};

template <class T>
void put(std::string& out, const T& value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

// Fields without the gaps that a compiler leaves between them.
template <class... T>
void put_all(std::string& out, const T&... fields) {
  (put(out, fields), ...);
}

class Bytes {
 public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}
  bool empty() const { return rest_.empty(); }
  template <class... T>
  void take(T&... fields) {
    (take_one(fields), ...);
  }

 private:
  template <class T>
  void take_one(T& field) {
    if (rest_.size() < sizeof(T)) throw SQLite::Exception("a block of table pyramid is cut short", 11);  // SQLITE_CORRUPT
    std::memcpy(&field, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
  }

  std::string_view rest_;
};

Bucket unpack(const PackedBucket& packed, const PackedNonfinite& odd, int64_t first_step) {
  Bucket bucket;
  bucket.first_step = first_step;
  bucket.finite = packed.finite;
  if (packed.finite > 0) bucket.minimum = packed.minimum, bucket.maximum = packed.maximum;
  bucket.minimum_step = first_step + packed.minimum_offset;
  bucket.maximum_step = first_step + packed.maximum_offset;
  bucket.nans = odd.nans;
  bucket.positive_infinities = odd.positive_infinities;
  bucket.negative_infinities = odd.negative_infinities;
  bucket.nonfinite_step = first_step + odd.first_offset;
  bucket.total = packed.total;
  bucket.last = packed.last;
  return bucket;
}

// Finite whatever is added, since SQLite has no NaN for what infinities may add up to.
double bounded_sum(double a, double b) { return std::clamp(a + b, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max()); }

uint32_t offset(int64_t step, const Bucket& bucket) { return static_cast<uint32_t>(std::max<int64_t>(0, step - bucket.first_step)); }

}  // namespace

void Bucket::add(int64_t step, double value) {
  last = value;
  if (std::isfinite(value)) {
    if (finite == 0 || value < minimum) minimum = value, minimum_step = step;
    if (finite == 0 || value > maximum) maximum = value, maximum_step = step;
    ++finite;
    total = bounded_sum(total, value);
    return;
  }
  if (nonfinite() == 0) nonfinite_step = step;
  ++(std::isnan(value) ? nans : value > 0 ? positive_infinities : negative_infinities);
}

void Bucket::add(const Bucket& later) {
  if (later.points() == 0) return;
  last = later.last;
  if (later.finite > 0) {
    if (finite == 0 || later.minimum < minimum) minimum = later.minimum, minimum_step = later.minimum_step;
    if (finite == 0 || later.maximum > maximum) maximum = later.maximum, maximum_step = later.maximum_step;
    finite += later.finite;
    total = bounded_sum(total, later.total);
  }
  if (later.nonfinite() > 0 && nonfinite() == 0) nonfinite_step = later.nonfinite_step;
  nans += later.nans;
  positive_infinities += later.positive_infinities;
  negative_infinities += later.negative_infinities;
}

std::string encode_block(const std::vector<Bucket>& buckets, int level) {
  std::string bytes;
  for (const Bucket& bucket : buckets) {
    const auto place = static_cast<uint8_t>(bucket.first_step >> bucket_bits(level) & (kBlockBuckets - 1));
    const auto has_nonfinite = static_cast<uint8_t>(bucket.nonfinite() > 0);
    put_all(bytes, place, has_nonfinite, static_cast<uint32_t>(bucket.finite), offset(bucket.minimum_step, bucket),
            offset(bucket.maximum_step, bucket), bucket.minimum, bucket.maximum, bucket.total, bucket.last);
    if (has_nonfinite)
      put_all(bytes, static_cast<uint32_t>(bucket.nans), static_cast<uint32_t>(bucket.positive_infinities),
              static_cast<uint32_t>(bucket.negative_infinities), offset(bucket.nonfinite_step, bucket));
  }
  return bytes;
}

std::vector<Bucket> decode_block(std::string_view bytes, int level, int64_t block) {
  std::vector<Bucket> buckets;
  int before = -1;
  for (Bytes rest(bytes); !rest.empty();) {
    PackedBucket packed{};
    PackedNonfinite odd{};
    rest.take(packed.place, packed.has_nonfinite, packed.finite, packed.minimum_offset, packed.maximum_offset, packed.minimum, packed.maximum,
              packed.total, packed.last);
    if (packed.has_nonfinite) rest.take(odd.nans, odd.positive_infinities, odd.negative_infinities, odd.first_offset);
    if (packed.place >= kBlockBuckets || packed.place <= before) throw SQLite::Exception("a block of table pyramid is out of order", 11);
    before = packed.place;
    buckets.push_back(unpack(packed, odd, (block << block_bits(level)) + (int64_t{packed.place} << bucket_bits(level))));
  }
  return buckets;
}

void Pyramid::read(int64_t series, int level, int64_t from, int64_t to, int64_t last_step, const Take& take) {
  from = std::max(from, -kStepMax), to = std::min(to, kStepMax + 1);
  if (from >= to) return;
  if (level <= 0) return read_points(series, from, to, take);
  const int bits = bucket_bits(std::min(level, kPyramidLevelMax));
  level = bits / 2;
  const int64_t inner_from = align_up(from, bits), inner_to = align_down(to, bits);
  if (inner_from >= inner_to) return read(series, level - 1, from, to, last_step, take);
  read(series, level - 1, from, inner_from, last_step, take);
  read_blocks(series, level, inner_from, inner_to, last_step, take);
  read(series, level - 1, inner_to, to, last_step, take);
}

void Pyramid::read_points(int64_t series, int64_t from, int64_t to, const Take& take) {
  SQLite::Statement& rows = database_.query(sql::point_values, series, from, to);
  while (rows.executeStep()) {
    Bucket point;
    point.first_step = rows.getColumn(0).getInt64();
    point.add(point.first_step, value_of(static_cast<ValueKind>(rows.getColumn(1).getInt()), rows.getColumn(2).getDouble()));
    take(point);
  }
  rows.reset();
}

// The blocks are fetched first: what is missing between them is read with the same prepared statements.
void Pyramid::read_blocks(int64_t series, int level, int64_t from, int64_t to, int64_t last_step, const Take& take) {
  const int bits = block_bits(level);
  const int64_t complete = std::max(from, std::min(to, align_down(last_step, bits)));
  std::vector<std::pair<int64_t, std::vector<Bucket>>> blocks;
  SQLite::Statement& rows = database_.query(sql::pyramid_blocks, series, level, from >> bits, (complete - 1) >> bits);
  while (rows.executeStep()) {
    const int64_t block = rows.getColumn(0).getInt64();
    const SQLite::Column bytes = rows.getColumn(1);
    blocks.emplace_back(block, decode_block({static_cast<const char*>(bytes.getBlob()), static_cast<size_t>(bytes.getBytes())}, level, block));
  }
  rows.reset();
  int64_t at = from;
  for (const auto& [block, buckets] : blocks) {
    if (const int64_t begin = block << bits; begin > at) read_points(series, at, begin, take);
    for (const Bucket& bucket : buckets)
      if (bucket.first_step >= from && bucket.first_step < complete) take(bucket);
    at = (block + 1) << bits;
  }
  if (at < complete) read_points(series, at, complete, take);
  read(series, level - 1, complete, to, last_step, take);
}

Bucket Pyramid::sum(int64_t series, int64_t from, int64_t to, int64_t last_step) {
  Bucket whole;
  whole.first_step = from;
  int level = 0;
  while (level < kPyramidLevelMax && (std::min(to, last_step + 1) - from) >> bucket_bits(level) > kBlockBuckets) ++level;
  read(series, level, from, to, last_step, [&](const Bucket& bucket) { whole.add(bucket); });
  return whole;
}

void Pyramid::update(int64_t series, const std::vector<int64_t>& changed_steps, int64_t old_last_step, int64_t last_step) {
  std::vector<int64_t> blocks;
  for (int level = 1; level <= kPyramidLevelMax; ++level) {
    const int bits = block_bits(level);
    const int64_t end = last_step >> bits;  // this one is still open
    blocks.clear();
    if (old_last_step >> bits < end) blocks.push_back(old_last_step >> bits);
    for (const int64_t step : changed_steps)
      if (const int64_t block = step >> bits; block < end && (blocks.empty() || blocks.back() != block)) blocks.push_back(block);
    if (blocks.empty()) return;
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    for (const int64_t block : blocks) write_block(series, level, block, last_step);
  }
}

std::string Pyramid::make_block(int64_t series, int level, int64_t block, int64_t last_step) {
  const int64_t from = block << block_bits(level), to = (block + 1) << block_bits(level);
  std::vector<Bucket> buckets;
  int64_t points = 0;
  read(series, level - 1, from, to, last_step, [&](const Bucket& part) {
    points += part.points();
    const int64_t first_step = align_down(part.first_step, bucket_bits(level));
    if (buckets.empty() || buckets.back().first_step != first_step) {
      buckets.emplace_back();
      buckets.back().first_step = first_step;
    }
    buckets.back().add(part);
  });
  return points <= kBlockBuckets ? "" : encode_block(buckets, level);
}

void Pyramid::write_block(int64_t series, int level, int64_t block, int64_t last_step) {
  const std::string bytes = make_block(series, level, block, last_step);
  if (bytes.empty()) return;
  SQLite::Statement& insert = database_.query(sql::pyramid_upsert, series, level, block);
  insert.bindNoCopy(4, bytes.data(), static_cast<int>(bytes.size()));
  insert.exec();
  insert.reset();
}

}  // namespace ringwright::history

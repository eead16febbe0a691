// Layouts whose map follows from the length alone.
#include <fmt/format.h>

#include <algorithm>

#include "shared/layout/layout_kinds.h"
#include "shared/layout/names.h"
#include "shared/layout/refusal.h"

namespace ringwright::layout {
namespace {

// Every rank holds the whole sequence; no data moves.
class Identity final : public Layout {
 public:
  explicit Identity(int cp) : Layout(cp) {}
  std::string_view name() const override { return names::kNone; }
  int64_t divisor() const override { return 1; }
  bool replicates() const override { return cp() > 1; }
  int64_t local_length(int64_t padded_length) const override { return padded_length; }

 protected:
  void visit_runs(int64_t padded_length, int rank, const RunVisitor& visit) const override { visit({rank, 0, 0, padded_length, 0}); }
  Slot find_owner(int64_t, int64_t global_position) const override { return {0, global_position}; }
};

// Head-tail: 2*cp equal chunks, rank r holds chunk r and chunk 2*cp-1-r.
class RoundRobin final : public Layout {
 public:
  explicit RoundRobin(int cp) : Layout(cp) {}
  std::string_view name() const override { return names::kRoundRobin; }
  int64_t divisor() const override { return int64_t{2} * cp(); }

 protected:
  void visit_runs(int64_t padded_length, int rank, const RunVisitor& visit) const override {
    const int64_t chunk = padded_length / divisor();
    visit({rank, 0, rank * chunk, chunk, 0});
    visit({rank, chunk, (divisor() - 1 - rank) * chunk, chunk, 0});
  }
  Slot find_owner(int64_t padded_length, int64_t global_position) const override {
    const int64_t chunk = padded_length / divisor();
    const int64_t k = global_position / chunk;
    const bool head = k < cp();
    return {static_cast<int>(head ? k : divisor() - 1 - k), global_position - k * chunk + (head ? 0 : chunk)};
  }
};

// Equal windows in rank order.
class Contiguous : public Layout {
 public:
  // name: of static storage.
  Contiguous(int cp, std::string_view name, int64_t multiple) : Layout(cp), name_(name), multiple_(multiple) {}
  std::string_view name() const override { return name_; }
  int64_t divisor() const override { return cp() * multiple_; }
  int64_t map_divisor() const override { return cp(); }

 protected:
  void visit_runs(int64_t padded_length, int rank, const RunVisitor& visit) const override {
    const int64_t window = padded_length / cp();
    visit({rank, 0, rank * window, window, 0});
  }
  Slot find_owner(int64_t padded_length, int64_t global_position) const override {
    const int64_t window = padded_length / cp();
    return {static_cast<int>(global_position / window), global_position % window};
  }

 private:
  std::string_view name_;
  int64_t multiple_;
};

// Windows of a flat stream of rows. Upstream adds no padding here, so a length that does not divide is refused.
class Glm final : public Contiguous {
 public:
  explicit Glm(int cp) : Contiguous(cp, names::kGlm, 1) {}
  int64_t padded_length(int64_t sequence_length) const override {
    const int64_t padded = Contiguous::padded_length(sequence_length);
    if (padded != sequence_length) {
      refuse("RW-LAYOUT-001",
             fmt::format("the stream of {} tokens is not divisible by cp = {} (remainder {}), and glm adds no padding", sequence_length, cp(),
                         sequence_length % cp()),
             fmt::format("layout glm, cp {}", cp()), fmt::format("a multiple of {}, such as {}", cp(), padded),
             "pack to a length that divides by cp, or change cp");
    }
    return padded;
  }
  Facts facts(int64_t rows, int64_t row_length) const override { return {false, {}, padded_length(rows * row_length), {rows, row_length}}; }
};

}  // namespace

std::unique_ptr<Layout> make_identity(int cp, const Options&) { return std::make_unique<Identity>(cp); }
std::unique_ptr<Layout> make_round_robin(int cp, const Options&) { return std::make_unique<RoundRobin>(cp); }
std::unique_ptr<Layout> make_contiguous(int cp, const Options& options) {
  return std::make_unique<Contiguous>(cp, names::kContiguous, std::max<int64_t>(options.pad_multiple, 2));
}
std::unique_ptr<Layout> make_deepseek_v4(int cp, const Options& options) {
  return std::make_unique<Contiguous>(cp, names::kDeepseekV4, std::max<int64_t>(options.pad_multiple, 2));
}
std::unique_ptr<Layout> make_glm(int cp, const Options&) { return std::make_unique<Glm>(cp); }
std::unique_ptr<Layout> make_gemma4(int cp, const Options&) { return std::make_unique<Contiguous>(cp, names::kGemma4, 2); }

}  // namespace ringwright::layout

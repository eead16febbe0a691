#include "shared/layout/method_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shared/layout/methods.h"
#include "shared/layout/traffic.h"

namespace ringwright::layout {
namespace {

constexpr double kForwardAndBackward = 1 + 2.5;
constexpr int64_t kGradientBytes = 4;  // float32, whatever the keys are

// Everything of a load that the methods share.
struct Amounts {
  const AttentionLoad& load;
  int cp = 1;
  double tokens = 0;            // of one rank
  double pairs = 0, total = 0;  // of the slowest rank; of all
  double read = 0;              // most keys that a rank reads of others
  double query_bytes = 0;       // of one token: queries, or outputs
  double key_bytes = 0;         // of one token: keys and values
  double key_gradient_bytes = 0;
  double flops_per_pair = 0;
};

double pairs_of(const Layout& layout, const AttentionLoad& load, int rank) {
  return static_cast<double>(layout.work(load.area, load.padded_length, rank));
}

Amounts amounts_of(const AttentionLoad& load) {
  Amounts a{load};
  a.cp = load.layout.cp();
  a.tokens = static_cast<double>(load.padded_length) / a.cp;
  for (int rank = 0; rank < a.cp; ++rank) {
    const double pairs = pairs_of(load.layout, load, rank);
    a.total += pairs;
    a.pairs = std::max(a.pairs, pairs);
    a.read = std::max(a.read, static_cast<double>(keys_read_of_others(load.layout, load.area, load.padded_length, rank)));
  }
  const auto rows = static_cast<double>(load.rows), head_size = static_cast<double>(load.head_size);
  a.query_bytes = rows * static_cast<double>(load.heads.heads * load.value_bytes) * head_size;
  a.key_bytes = rows * static_cast<double>(2 * load.heads.kv_heads * load.value_bytes) * head_size;
  a.key_gradient_bytes = rows * static_cast<double>(2 * load.heads.kv_heads * kGradientBytes) * head_size;
  a.flops_per_pair = rows * 4 * head_size * static_cast<double>(load.heads.heads) * kForwardAndBackward;
  return a;
}

// Of one method, on its slowest rank.
struct Work {
  double pairs = 0;          // over all heads
  double handled_bytes = 0;  // merged, reordered and added up
  double messages = 0, calls = 0;
};

// Merging at every step of a ring: partial outputs, and the gradient of its keys.
double merged_bytes(const Amounts& a, double steps) { return steps * a.tokens * (3 * a.query_bytes + a.key_gradient_bytes); }

Work ring_work(const Amounts& a) {
  const double steps = a.cp - 1;
  return {a.pairs, merged_bytes(a, steps), 6 * steps, 4 * (steps + 1)};
}

Work ranged_work(const Amounts& a) { return {a.pairs, a.read * (2 * a.key_bytes + 2 * a.key_gradient_bytes), 6.0 * (a.cp - 1), 4.0 * a.cp}; }

Work all_gather_work(const Amounts& a) { return {a.pairs, a.tokens * a.cp * (2 * a.key_bytes + 2 * a.key_gradient_bytes), 6.0 * (a.cp - 1), 4}; }

// Exchange over `ranks` neighbours: q, k, v and the outputs forward, the gradients of all four backward; a key head that several ranks share goes to
// each of them. Put into global order, what comes in is handled three times.
double exchanged_bytes(const Amounts& a, int ranks) {
  const double copies = std::max(1.0, static_cast<double>(ranks) / static_cast<double>(a.load.heads.kv_heads));
  return a.tokens * (ranks - 1) / ranks * (4 * a.query_bytes + 2 * a.key_bytes * copies);
}

Work all_to_all_work(const Amounts& a) { return {a.total / a.cp, 3 * exchanged_bytes(a, a.cp), 8.0 * (a.cp - 1), 2}; }

// Each rank has a share of the heads over the pairs of its run of ranks.
Work grid_work(const Amounts& a) {
  const int ranks = head_ranks_of_grid(a.load.heads, a.cp), members = a.cp / ranks;
  const auto runs = merge_ranks(a.load.layout, a.load.padded_length, ranks);
  double pairs = 0;
  for (int member = 0; member < members; ++member) pairs = std::max(pairs, pairs_of(*runs, a.load, member) / ranks);
  return {pairs, 3 * exchanged_bytes(a, ranks) + merged_bytes(a, members - 1), 8.0 * (ranks - 1) + 6.0 * (members - 1), 4.0 * members};
}

struct Model {
  std::string_view method;
  Work (*work)(const Amounts&);
};

constexpr Model kModels[] = {
    {names::kRing, ring_work},           {names::kRanged, ranged_work},     {names::kAllGather, all_gather_work},
    {names::kAllToAll, all_to_all_work}, {names::kAllToAllRing, grid_work},
};

int64_t most_bytes(std::string_view method, const AttentionLoad& load) {
  const AttentionShape shape{load.heads.heads, load.heads.kv_heads, load.head_size, load.value_bytes};
  int64_t most = 0;
  for (const RankTraffic& rank : traffic(method, load.layout, load.area, load.padded_length, shape).value_or(std::vector<RankTraffic>()))
    most = std::max(most, rank.forward_bytes + rank.backward_bytes);
  return most * load.rows;
}

MethodCost cost(std::string_view method, const Amounts& a, const AttentionRates& rates) {
  MethodCost result{.method = method, .refusal = method_head_refusal(method, a.load.heads, a.cp)};
  if (!result.refusal.empty()) return result;
  const auto model = std::find_if(std::begin(kModels), std::end(kModels), [&](const Model& each) { return each.method == method; });
  const Work work = model->work(a);
  result.bytes = most_bytes(method, a.load);
  result.compute_s = work.pairs * a.flops_per_pair / rates.flops_per_s;
  result.moved_s = static_cast<double>(result.bytes) / rates.bytes_per_s;
  result.handled_s = work.handled_bytes / rates.copy_bytes_per_s;
  result.fixed_s = work.messages * rates.message_s + work.calls * rates.call_s;
  return result;
}

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", seconds * 1e3); }

}  // namespace

std::vector<MethodCost> method_costs(const AttentionLoad& load, const AttentionRates& rates) {
  const Amounts a = amounts_of(load);
  std::vector<MethodCost> costs;
  for (const MethodEntry& entry : methods()) costs.push_back(cost(entry.name, a, rates));
  return costs;
}

MethodChoice choose_method(const AttentionLoad& load, const AttentionRates& rates) {
  if (load.layout.cp() == 1) return {names::kRing, "one rank has all tokens"};
  std::vector<MethodCost> costs = method_costs(load, rates);
  std::erase_if(costs, [](const MethodCost& each) { return !each.refusal.empty(); });
  std::stable_sort(costs.begin(), costs.end(), [](const MethodCost& x, const MethodCost& y) { return x.total_s() < y.total_s(); });
  const MethodCost& best = costs[0];
  const MethodCost& next = costs[1];
  return {best.method,
          fmt::format("estimated {} a layer and step ({} computing, {} moving {} bytes); next is {} with {}", milliseconds(best.total_s()),
                      milliseconds(best.compute_s), milliseconds(best.moved_s), best.bytes, next.method, milliseconds(next.total_s()))};
}

}  // namespace ringwright::layout

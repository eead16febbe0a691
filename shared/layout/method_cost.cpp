#include "shared/layout/method_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shared/layout/traffic.h"

namespace ringwright::layout {
namespace {

constexpr double kForwardAndBackward = 1 + 2.5;
constexpr int64_t kGradientBytes = 4;  // float32, whatever the keys are

// Everything of a load that the methods share.
struct Amounts {
  int cp = 1;
  double tokens = 0;           // of one rank
  double pairs = 0, even = 0;  // of the slowest rank; of all, divided by the ranks
  double read = 0;             // most keys that a rank reads of others
  double query_bytes = 0;      // of one token: queries, or outputs
  double key_bytes = 0;        // of one token: keys and values
  double key_gradient_bytes = 0;
  double flops_per_pair = 0;
};

Amounts amounts_of(const AttentionLoad& load) {
  Amounts a;
  a.cp = load.layout.cp();
  a.tokens = static_cast<double>(load.padded_length) / a.cp;
  double total = 0;
  for (int rank = 0; rank < a.cp; ++rank) {
    const auto pairs = static_cast<double>(load.layout.work(load.area, load.padded_length, rank));
    total += pairs;
    a.pairs = std::max(a.pairs, pairs);
    a.read = std::max(a.read, static_cast<double>(keys_read_of_others(load.layout, load.area, load.padded_length, rank)));
  }
  a.even = total / a.cp;
  const auto rows = static_cast<double>(load.rows), head_size = static_cast<double>(load.head_size);
  a.query_bytes = rows * static_cast<double>(load.heads.heads * load.value_bytes) * head_size;
  a.key_bytes = rows * static_cast<double>(2 * load.heads.kv_heads * load.value_bytes) * head_size;
  a.key_gradient_bytes = rows * static_cast<double>(2 * load.heads.kv_heads * kGradientBytes) * head_size;
  a.flops_per_pair = rows * 4 * head_size * static_cast<double>(load.heads.heads) * kForwardAndBackward;
  return a;
}

MethodCost cost(std::string_view method, const Amounts& a, const AttentionRates& rates, double pairs, double bytes, double handled_bytes,
                double messages, double calls) {
  MethodCost result{.method = method};
  result.bytes = static_cast<int64_t>(bytes);
  result.compute_s = pairs * a.flops_per_pair / rates.flops_per_s;
  result.moved_s = bytes / rates.bytes_per_s;
  result.handled_s = handled_bytes / rates.copy_bytes_per_s;
  result.fixed_s = messages * rates.message_s + calls * rates.call_s;
  return result;
}

MethodCost ring_cost(const Amounts& a, const AttentionRates& rates) {
  const double steps = a.cp - 1, keys = std::max(a.read, a.tokens * steps / 2);  // a hop also carries what others read
  return cost("ring", a, rates, a.pairs, keys * (2 * a.key_bytes + a.key_gradient_bytes),
              steps * a.tokens * (3 * a.query_bytes + a.key_gradient_bytes), 6 * steps, 4 * (steps + 1));
}

MethodCost all_gather_cost(const Amounts& a, const AttentionRates& rates) {
  const double others = a.tokens * (a.cp - 1);
  return cost("all_gather", a, rates, a.pairs, others * (2 * a.key_bytes + a.key_gradient_bytes),
              (others + a.tokens) * (2 * a.key_bytes + 2 * a.key_gradient_bytes), 6 * (a.cp - 1), 4);
}

MethodCost ranged_cost(const Amounts& a, const AttentionRates& rates) {
  return cost("ranged", a, rates, a.pairs, a.read * (2 * a.key_bytes + a.key_gradient_bytes), a.read * (2 * a.key_bytes + 2 * a.key_gradient_bytes),
              6 * (a.cp - 1), 4 * a.cp);
}

// Exchange over `ranks` neighbours: q, k, v and the outputs forward, the gradients of all four backward. A key head that several ranks share goes
// to each of them.
double exchanged_bytes(const Amounts& a, const HeadCounts& heads, int ranks) {
  const double copies = std::max(1.0, static_cast<double>(ranks) / static_cast<double>(heads.kv_heads));
  return a.tokens * (ranks - 1) / ranks * (4 * a.query_bytes + 2 * a.key_bytes * copies);
}

MethodCost all_to_all_cost(const Amounts& a, const AttentionRates& rates, const HeadCounts& heads) {
  const double bytes = exchanged_bytes(a, heads, a.cp);
  return cost("all_to_all", a, rates, a.even, bytes, 3 * bytes, 8 * (a.cp - 1), 2);
}

MethodCost grid_cost(const Amounts& a, const AttentionRates& rates, const HeadCounts& heads, int ranks) {
  const int steps = a.cp / ranks - 1;
  const double exchanged = exchanged_bytes(a, heads, ranks), hop_keys = a.tokens * steps / 2;
  return cost("all_to_all+ring", a, rates, (a.pairs + a.even) / 2, exchanged + hop_keys * (2 * a.key_bytes + a.key_gradient_bytes),
              3 * exchanged + steps * a.tokens * (3 * a.query_bytes + a.key_gradient_bytes), 8 * (ranks - 1) + 6 * steps, 4 * (steps + 1));
}

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", seconds * 1e3); }

}  // namespace

std::vector<MethodCost> method_costs(const AttentionLoad& load, const AttentionRates& rates) {
  const Amounts a = amounts_of(load);
  std::vector<MethodCost> costs = {ring_cost(a, rates), ranged_cost(a, rates), all_gather_cost(a, rates)};
  const std::string refusal = head_split_refusal(load.heads, a.cp);
  costs.push_back(refusal.empty() ? all_to_all_cost(a, rates, load.heads) : MethodCost{.method = "all_to_all", .refusal = refusal});
  const int ranks = head_ranks_of_grid(load.heads, a.cp);
  costs.push_back(ranks > 0 ? grid_cost(a, rates, load.heads, ranks)
                            : MethodCost{.method = "all_to_all+ring", .refusal = head_grid_refusal(load.heads, a.cp)});
  return costs;
}

MethodChoice choose_method(const AttentionLoad& load, const AttentionRates& rates) {
  if (load.layout.cp() == 1) return {"ring", "one rank has all tokens"};
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

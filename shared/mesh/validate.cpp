#include "shared/mesh/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <unordered_set>

namespace ringwright::mesh {
namespace {

// Products of sizes that people type must not wrap around: they stop at a value that no world has.
constexpr int64_t kProductMax = std::numeric_limits<int64_t>::max() / std::numeric_limits<int>::max();

int64_t product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors) result = std::min(result, kProductMax) * factor;
  return result;
}

// A bound on what people type, far above any cluster; offers walk the divisors of the world.
constexpr int kWorldSizeMax = 1 << 20;

// One row for each size that can be asked for.
struct SizeField {
  std::string_view name;
  int (*get)(const ParallelismSizes&);
  void (*set)(ParallelismSizes&, int);
};

constexpr std::array<SizeField, 6> kFields = {{
    {"dp", [](const ParallelismSizes& s) { return s.dp.value_or(1); }, [](ParallelismSizes& s, int v) { s.dp = v; }},
    {"dp_replicate", [](const ParallelismSizes& s) { return s.dp_replicate.value_or(1); }, [](ParallelismSizes& s, int v) { s.dp_replicate = v; }},
    {"tp", [](const ParallelismSizes& s) { return s.tp; }, [](ParallelismSizes& s, int v) { s.tp = v; }},
    {"pp", [](const ParallelismSizes& s) { return s.pp; }, [](ParallelismSizes& s, int v) { s.pp = v; }},
    {"cp", [](const ParallelismSizes& s) { return s.cp; }, [](ParallelismSizes& s, int v) { s.cp = v; }},
    {"ep", [](const ParallelismSizes& s) { return s.ep; }, [](ParallelismSizes& s, int v) { s.ep = v; }},
}};

const SizeField& field(std::string_view name) {
  for (const SizeField& row : kFields) {
    if (row.name == name) return row;
  }
  std::vector<std::string_view> names;
  for (const SizeField& row : kFields) names.push_back(row.name);
  throw Error({.code = "RW-MESH-007",
               .what = fmt::format("no size is called {}", name),
               .where = std::string(name),
               .expected = fmt::format("one of {}", fmt::join(names, ", ")),
               .action = "use one of these names; they are case-sensitive",
               .exit_code = ExitCode::refused});
}

ParallelismSizes normalised(ParallelismSizes sizes) {
  if (sizes.dp && *sizes.dp <= 0) sizes.dp.reset();
  sizes.dp_replicate = std::max(sizes.dp_replicate.value_or(1), 1);
  for (int* size : {&sizes.tp, &sizes.pp, &sizes.cp, &sizes.ep}) *size = std::max(*size, 1);
  return sizes;
}

std::optional<Fault> strategy_fault(const ParallelismSizes& sizes, Strategy strategy) {
  if (strategy == Strategy::fsdp2) return std::nullopt;
  for (const SizeField& row : kFields) {
    const bool has_axis = strategy == Strategy::megatron_fsdp && (row.name == "tp" || row.name == "cp");
    if (row.name == "dp" || has_axis || row.get(sizes) <= 1) continue;
    return Fault{"RW-MESH-008",
                 fmt::format("the strategy {} has no axis {}, and {} = {} was asked for", name_of(strategy), row.name, row.name, row.get(sizes)),
                 fmt::format("{} = 1", row.name)};
  }
  return std::nullopt;
}

std::optional<Fault> world_fault(int64_t world, const ParallelismSizes& sizes) {
  const int64_t model = product({sizes.pp, sizes.cp, sizes.tp});
  if (!sizes.dp) {
    if (world % model == 0) return std::nullopt;
    return Fault{"RW-MESH-001",
                 fmt::format("a world of {} is not divisible by pp x cp x tp = {} x {} x {} = {}", world, sizes.pp, sizes.cp, sizes.tp, model),
                 fmt::format("sizes whose product divides {}", world)};
  }
  const int64_t total = product({sizes.pp, *sizes.dp, sizes.cp, sizes.tp});
  if (total == world) return std::nullopt;
  return Fault{
      "RW-MESH-002",
      fmt::format("pp x dp x cp x tp = {} x {} x {} x {} = {}, and the world has {} ranks", sizes.pp, *sizes.dp, sizes.cp, sizes.tp, total, world),
      fmt::format("sizes whose product is {}", world)};
}

std::optional<Fault> data_fault(int64_t dp, const ParallelismSizes& sizes) {
  const int dp_replicate = *sizes.dp_replicate;
  if (dp % dp_replicate != 0) {
    return Fault{"RW-MESH-003", fmt::format("dp = {} is not a multiple of dp_replicate = {}", dp, dp_replicate), "a dp_replicate that divides dp"};
  }
  if (dp_replicate != 1 && dp_replicate >= dp) {
    return Fault{"RW-MESH-004", fmt::format("dp_replicate = {} leaves nothing to shard over, since dp = {}", dp_replicate, dp),
                 fmt::format("dp_replicate = 1, or less than {}", dp)};
  }
  const int64_t region = dp * sizes.cp * sizes.tp;
  if (region % sizes.ep != 0) {
    return Fault{"RW-MESH-005", fmt::format("ep = {} does not divide dp x cp x tp = {} x {} x {} = {}", sizes.ep, dp, sizes.cp, sizes.tp, region),
                 fmt::format("an ep that divides {}", region)};
  }
  return std::nullopt;
}

// "dp = 2; cp = 1 or 4": each size that alone would mend it.
std::string offers(int world_size, const ParallelismSizes& sizes, Strategy strategy) {
  std::vector<std::string> texts;
  for (const SizeField& row : kFields) {
    const bool asked = row.name == "dp" ? sizes.dp.has_value() : row.get(sizes) > 1;
    if (!asked) continue;
    const std::vector<int> values = valid_values(row.name, world_size, sizes, strategy);
    if (!values.empty()) texts.push_back(fmt::format("{} = {}", row.name, fmt::join(values, " or ")));
  }
  return fmt::format("{}", fmt::join(texts, ", or "));
}

std::string way_out(int world_size, const ParallelismSizes& sizes, Strategy strategy) {
  const std::string values = offers(world_size, sizes, strategy);
  if (values.empty()) return fmt::format("change several sizes together: no single one makes a mesh of {} ranks", world_size);
  return fmt::format("with the other sizes as they are, set {}", values);
}

}  // namespace

std::string_view name_of(Strategy strategy) {
  constexpr std::array<std::string_view, 3> names = {"fsdp2", "megatron_fsdp", "ddp"};
  return names[static_cast<size_t>(strategy)];
}

Strategy strategy_from_name(std::string_view name) {
  static const std::array<std::pair<std::string_view, Strategy>, 5> known = {{{"fsdp2", Strategy::fsdp2},
                                                                              {"megatron_fsdp", Strategy::megatron_fsdp},
                                                                              {"megatron-fsdp", Strategy::megatron_fsdp},
                                                                              {"mfsdp", Strategy::megatron_fsdp},
                                                                              {"ddp", Strategy::ddp}}};
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [text, strategy] : known) {
    if (text == lower) return strategy;
  }
  throw Error({.code = "RW-MESH-010",
               .what = fmt::format("no strategy is called {}", name),
               .where = std::string(name),
               .expected = "fsdp2, megatron_fsdp (megatron-fsdp, mfsdp) or ddp",
               .action = "choose one of these",
               .exit_code = ExitCode::refused});
}

std::optional<Fault> find_fault(int world_size, const ParallelismSizes& asked, Strategy strategy) {
  if (world_size < 1) return Fault{"RW-MESH-009", fmt::format("a world of {} has no ranks", world_size), "at least 1 rank"};
  if (world_size > kWorldSizeMax) {
    return Fault{"RW-MESH-009", fmt::format("a world of {} ranks is more than this program plans for", world_size),
                 fmt::format("at most {} ranks", kWorldSizeMax)};
  }
  const ParallelismSizes sizes = normalised(asked);
  if (auto fault = strategy_fault(sizes, strategy)) return fault;
  if (auto fault = world_fault(world_size, sizes)) return fault;
  const int64_t dp = sizes.dp.value_or(static_cast<int>(world_size / product({sizes.pp, sizes.cp, sizes.tp})));
  return data_fault(dp, sizes);
}

CheckedSizes checked(int world_size, const ParallelismSizes& asked, Strategy strategy) {
  const ParallelismSizes sizes = normalised(asked);
  if (const auto fault = find_fault(world_size, sizes, strategy)) {
    throw Error({.code = fault->code,
                 .what = fault->what,
                 .where = "mesh",
                 .expected = fault->expected,
                 .action = fault->code == "RW-MESH-009" ? "change the number of nodes or of ranks per node" : way_out(world_size, sizes, strategy),
                 .exit_code = ExitCode::refused});
  }
  const int dp = world_size / (sizes.pp * sizes.cp * sizes.tp);
  return {sizes.pp, *sizes.dp_replicate, dp / *sizes.dp_replicate, sizes.cp, sizes.tp, sizes.ep};
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

std::vector<int> valid_values(std::string_view axis, int world_size, const ParallelismSizes& sizes, Strategy strategy) {
  const SizeField& row = field(axis);
  std::vector<int> values;
  // Each size divides the world: dp, tp, pp and cp as factors, dp_replicate as a part of dp, ep as a part of dp x cp x tp.
  for (int value = 1; value <= world_size; ++value) {
    if (world_size % value != 0) continue;
    ParallelismSizes candidate = sizes;
    row.set(candidate, value);
    if (!find_fault(world_size, candidate, strategy)) values.push_back(value);
  }
  return values;
}

void check_experts(int64_t experts, int world_size, const ParallelismSizes& sizes, Strategy strategy) {
  if (sizes.ep <= 1 || experts % sizes.ep == 0) return;
  std::vector<int> values = valid_values("ep", world_size, sizes, strategy);
  std::erase_if(values, [&](int value) { return experts % value != 0; });
  throw Error({.code = "RW-MESH-012",
               .what = fmt::format("{} experts cannot be dealt evenly to the ep = {} ranks of an expert group", experts, sizes.ep),
               .where = "mesh",
               .expected = fmt::format("an ep that divides {} experts", experts),
               .action = fmt::format("set ep = {}", fmt::join(values, " or ")),
               .exit_code = ExitCode::refused});
}

std::vector<std::string> size_warnings(const ParallelismSizes& sizes) {
  std::vector<std::string> texts;
  for (const SizeField& row : kFields) {
    if (row.get(sizes) > 0) continue;
    texts.push_back(
        fmt::format("{} = {} counts as {}", row.name, row.get(sizes), row.name == "dp" ? "not given: it is inferred from the world" : "1"));
  }
  return texts;
}

}  // namespace ringwright::mesh

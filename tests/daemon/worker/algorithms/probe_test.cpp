// The probe must see each mistake that context parallelism invites. Every one is put in from outside: around what spreads a microbatch, or around
// its attention.
#include "daemon/worker/algorithms/probe.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/local_attention.h"
#include "shared/base/error.h"
#include "tests/daemon/worker/algorithms/small_training.h"
#include "tests/daemon/worker/support/rank_threads.h"

namespace ringwright::worker {
namespace {

constexpr double kTolerance = 1e-4;  // that of `ringwright probe`
constexpr int64_t kWindow = 5;

// Changes the options of a run over `group`.
using Fault = std::function<void(SftTrainerOptions& options, const ProcessGroup& group)>;

void around_shard(SftTrainerOptions& options, const ProcessGroup& group, std::function<void(LocalMicrobatch&)> change) {
  options.shard = [make = make_shard_function(options.cp_flavour, group), change = std::move(change)](const SftBatch& batch) {
    LocalMicrobatch local = make(batch);
    change(local);
    return local;
  };
}

AttentionFunction windowed(AttentionFunction attention, int64_t window) {
  const int cp_size = attention.cp_size();
  return {[attention = std::move(attention), window](const auto& q_BHLD, const auto& k_BKLD, const auto& v_BKLD, layout::Mask mask, double scale) {
            mask.window = window;
            return attention(q_BHLD, k_BKLD, v_BKLD, mask, scale);
          },
          cp_size};
}

ProbeDifferences probe_with(const ProcessGroup& group, const recipe::SftConfig& config, const Fault& fault,
                            const std::string& flavour = "round_robin") {
  Training training(ProcessGroup{}, at::kFloat);
  const std::vector<Row> rows = make_rows({23, 40, 9, 17});
  SftTrainerOptions options;
  options.cp_flavour = flavour;
  if (fault) fault(options, group);
  return probe(training.model, config, group, options, {"ring"}, pointers(rows)).front().differences;
}

void expect_caught(const recipe::SftConfig& config, const Fault& fault) {
  test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
    EXPECT_LT(probe_with(ranks.group("cp"), config, {}).largest(), kTolerance / 5);
    EXPECT_GT(probe_with(ranks.group("cp"), config, fault).largest(), 10 * kTolerance);
  });
}

TEST(Probe, FindsNoFaultInEveryMethodRowsAndPacks) {
  test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
    for (const recipe::SftConfig& config : {small_config(), packed_config()}) {
      Training training(ProcessGroup{}, at::kFloat);
      const std::vector<Row> rows = make_rows({23, 40, 9, 17});
      std::vector<std::string> methods;
      for (const AttentionMethodEntry& entry : attention_methods()) methods.emplace_back(entry.name);
      for (const ProbeResult& result : probe(training.model, config, ranks.group("cp"), {}, methods, pointers(rows))) {
        EXPECT_TRUE(!result.refusal.empty() || result.differences.largest() < kTolerance / 5) << result.method << " " << to_json(result).dump();
        EXPECT_EQ(result.differences.gradients.size(), result.refusal.empty() ? training.model.parameters().size() : 0) << result.method;
      }
      for (const auto& [name, parameter] : training.model.parameters()) EXPECT_FALSE(parameter.grad().defined()) << name;
    }
  });
}

TEST(Probe, SeesLeakedDocuments) {
  expect_caught(packed_config(), [](SftTrainerOptions& options, const ProcessGroup& group) {
    around_shard(options, group, [](LocalMicrobatch& local) { local.mask.document_offsets.clear(); });
  });
}

// T02: shifted after the cut, so that the last token of a slice gets its neighbour in the slice.
TEST(Probe, SeesAShiftedTarget) {
  expect_caught(small_config(), [](SftTrainerOptions& options, const ProcessGroup& group) {
    around_shard(options, group, [](LocalMicrobatch& local) {
      at::Tensor shifted = local.ids_BL.roll(-1, 1);
      local.targets_BL = at::where(local.targets_BL >= 0, shifted, local.targets_BL);
    });
  });
}

// T06: divided by the shard's own count, here by another global count.
TEST(Probe, SeesAWrongDivisor) {
  expect_caught(small_config(), [](SftTrainerOptions& options, const ProcessGroup& group) {
    around_shard(options, group, [](LocalMicrobatch& local) { local.weights_BL = local.weights_BL / local.weights_BL.sum(); });
  });
}

TEST(Probe, SeesAttentionOverTheLocalShardOnly) {
  expect_caught(small_config(), [](SftTrainerOptions& options, const ProcessGroup&) {
    options.attention = [](const auto&) { return LayerAttentions(AttentionFunction(local_attention, 2)); };
  });
}

// Keys and values gathered in the order of ranks, then masked as if that were the order of tokens.
TEST(Probe, SeesKeysInRankOrderUnderACausalRule) {
  expect_caught(small_config(), [](SftTrainerOptions& options, const ProcessGroup& group) {
    options.attention = [group](const auto&) {
      return LayerAttentions(make_attention("all_gather", layout::make_layout("contiguous", group.size), group));
    };
  });
}

// A layer that says it holds the group and does not; one that does not say so is refused before the first step.
TEST(Probe, SeesOneLayerWithoutTheGroup) {
  const auto one_local_layer = [](int claimed_size) {
    return [claimed_size](SftTrainerOptions& options, const ProcessGroup& group) {
      options.attention = [group, claimed_size](const auto& layout) {
        LayerAttentions attentions(make_attention("ring", layout, group));
        attentions.set(1, AttentionFunction(local_attention, claimed_size));
        return attentions;
      };
    };
  };
  expect_caught(small_config(), one_local_layer(2));
  test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
    try {
      probe_with(ranks.group("cp"), small_config(), one_local_layer(1));
      ADD_FAILURE() << "a layer without the group was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-CP-004");
    }
  });
}

// T04: the window counts in global positions on both sides, and is not replaced by plain causal attention.
TEST(Probe, SeesADroppedWindow) {
  test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
    const ProcessGroup& group = ranks.group("cp");
    const std::vector<Row> rows = make_rows({23, 40, 9, 17});
    const auto measured = [&](const ProcessGroup& over, const AttentionMaker& attention) {
      SftTrainerOptions options;
      options.attention = attention;
      Training training(over, at::kFloat, small_config(), options);
      return measure(training.trainer, training.model, pointers(rows));
    };
    const auto ring = [&](const auto& layout) { return make_attention("ring", layout, group); };
    const Measurement whole = measured({}, [](const auto&) { return LayerAttentions(windowed(local_attention, kWindow)); });
    const Measurement good = measured(group, [&](const auto& layout) { return LayerAttentions(windowed(ring(layout), kWindow)); });
    const Measurement dropped = measured(group, [&](const auto& layout) { return LayerAttentions(ring(layout)); });
    EXPECT_LT(differences(whole, good).largest(), kTolerance / 5);
    EXPECT_GT(differences(whole, dropped).largest(), 10 * kTolerance);
  });
}

TEST(ProbeDifferences, NumbersThatAreNoneAreBeyondEveryTolerance) {
  const Measurement whole{1.0, {at::ones({3})}, {{"w", at::ones({2})}, {"idle", at::zeros({2})}}};
  EXPECT_EQ(differences(whole, whole).largest(), 0);
  Measurement other = whole;
  other.gradients["w"] = at::tensor({1.0F, std::nanf("")});
  const ProbeDifferences found = differences(whole, other);
  EXPECT_EQ(found.gradients.front().first, "w");
  EXPECT_EQ(found.largest(), std::numeric_limits<double>::infinity());
  other = whole;
  other.gradients["idle"] = at::full({2}, 1e-9);
  EXPECT_EQ(differences(whole, other).largest(), std::numeric_limits<double>::infinity()) << "a gradient where there is to be none";
  other = whole;
  other.row_logprobs = {at::ones({4})};
  EXPECT_EQ(differences(whole, other).largest(), std::numeric_limits<double>::infinity()) << "another length";
  other = whole;
  other.loss = 1.5;
  EXPECT_NEAR(differences(whole, other).loss, 1.0 / 3, 1e-12);
}

}  // namespace
}  // namespace ringwright::worker

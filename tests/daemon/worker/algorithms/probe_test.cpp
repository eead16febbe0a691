// The probe must see each mistake that context parallelism invites. Every one is put in from outside: around what spreads a microbatch, or around
// its attention.
#include "daemon/worker/algorithms/probe.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "daemon/worker/context_parallel/attention_method.h"
#include "daemon/worker/models/local_attention.h"
#include "shared/base/error.h"
#include "shared/history/comparison.h"
#include "shared/layout/methods.h"
#include "tests/daemon/worker/algorithms/small_training.h"
#include "tests/daemon/worker/support/rank_threads.h"
#include "tests/support/error_of.h"

namespace ringwright::worker {
namespace {

constexpr double kTolerance = history::kToleranceDefault;
constexpr int64_t kWindow = 5;

// Changes the options of a run over `group`.
using Fault = std::function<void(SftTrainerOptions& options, const ProcessGroup& group)>;

void around_shard(SftTrainerOptions& options, const ProcessGroup& group, std::function<void(LocalMicrobatch&)> change) {
  options.shard = [make = make_shard_function(sharded_model(options.cp_flavour, group.size), group),
                   change = std::move(change)](const SftBatch& batch) {
    LocalMicrobatch local = make(batch);
    change(local);
    return local;
  };
}

AttentionFunction without_window(AttentionFunction attention) {
  const int cp_size = attention.cp_size();
  return {[attention = std::move(attention)](const auto& q_BHLD, const auto& k_BKLD, const auto& v_BKLD, layout::Mask mask, double scale) {
            mask.window = 0;
            return attention(q_BHLD, k_BKLD, v_BKLD, mask, scale);
          },
          cp_size};
}

std::vector<ProbeResult> probe_with(const ProcessGroup& group, const recipe::SftConfig& config, const Fault& fault) {
  Training training(ProcessGroup{}, at::kFloat);
  const std::vector<Row> rows = make_rows({23, 40, 9, 17});
  SftTrainerOptions options;
  if (fault) fault(options, group);
  return probe(training.model, config, group, options, {"ring"}, pointers(rows));
}

constexpr int kGroupSizes[] = {2, 4};

// By the numbers, and by what stops a run that probes first.
void expect_caught(const recipe::SftConfig& config, const Fault& fault) {
  for (const int cp : kGroupSizes) {
    test::run_on_threads(cp, [&](const worker::ProcessGroups& ranks) {
      const std::vector<ProbeResult> good = probe_with(ranks.group("cp"), config, {});
      EXPECT_LT(good.front().differences.largest(), kTolerance / 5) << "cp " << cp;
      EXPECT_EQ(test::error_code([&] { require_parity(good); }), "none");
      const std::vector<ProbeResult> bad = probe_with(ranks.group("cp"), config, fault);
      EXPECT_GT(bad.front().differences.largest(), 10 * kTolerance) << "cp " << cp;
      const ErrorParts parts = test::error_of([&] { require_parity(bad); });
      EXPECT_EQ(parts.code, "RW-PROBE-001") << "cp " << cp;
      EXPECT_EQ(parts.where, "method ring");
      EXPECT_EQ(parts.exit_code, ExitCode::run_failed);
    });
  }
}

TEST(Probe, AMethodThatWasRefusedStopsNoRun) {
  EXPECT_EQ(test::error_code([] { require_parity({{"all_to_all", "5 heads", {}}}); }), "none");
}

// Windows, biases, tied heads, scaled rotary positions: whatever the goldens' models have.
class ProbeModels : public testing::TestWithParam<std::string> {};

TEST_P(ProbeModels, HaveNoFaultByEveryMethodInRowsAndPacks) {
  test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
    const LoadedCheckpoint checkpoint = load_checkpoint(kModels / GetParam(), at::kFloat);
    LlamaModel model(checkpoint.config, checkpoint.parameters);
    for (const recipe::SftConfig& config : {small_config(), packed_config()}) {
      const std::vector<Row> rows = make_rows({23, 40, 9, 17}, checkpoint.config.vocab_size);
      for (const ProbeResult& result : probe(model, config, ranks.group("cp"), {}, layout::method_names(), pointers(rows))) {
        EXPECT_TRUE(!result.refusal.empty() || result.differences.largest() < kTolerance / 5) << result.method << " " << to_json(result).dump();
        EXPECT_EQ(result.differences.gradients.size(), result.refusal.empty() ? model.parameters().size() : 0) << result.method;
      }
      for (const auto& [name, parameter] : model.parameters()) EXPECT_FALSE(parameter.grad().defined()) << name;
    }
  });
}

std::vector<std::string> golden_models() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}
INSTANTIATE_TEST_SUITE_P(Probe, ProbeModels, testing::ValuesIn(golden_models()), [](const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Over two tokens only the first predicts, and it attends to itself alone: queries and keys have no gradient but for rounding.
TEST(Probe, FindsNoFaultWhereGradientsAreZero) {
  test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
    Training training(ProcessGroup{}, at::kFloat);
    recipe::SftConfig config = small_config();
    config.train_micro_batch_size = 1;
    const std::vector<Row> rows = make_rows({2, 2});
    for (const ProbeResult& result : probe(training.model, config, ranks.group("cp"), {}, layout::method_names(), pointers(rows)))
      EXPECT_TRUE(!result.refusal.empty() || result.differences.largest() < kTolerance / 5) << to_json(result).dump();
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
  expect_caught(small_config(), [](SftTrainerOptions& options, const ProcessGroup& group) {
    options.attention = [size = group.size](const auto&) { return LayerAttentions(AttentionFunction(local_attention, size)); };
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
  const auto one_local_layer = [](bool claims_the_group) {
    return [claims_the_group](SftTrainerOptions& options, const ProcessGroup& group) {
      options.attention = [group, claims_the_group](const auto& layout) {
        LayerAttentions attentions(make_attention("ring", layout, group));
        attentions.set(1, AttentionFunction(local_attention, claims_the_group ? group.size : 1));
        return attentions;
      };
    };
  };
  expect_caught(small_config(), one_local_layer(true));
  test::run_on_threads(2, [&](const worker::ProcessGroups& ranks) {
    try {
      probe_with(ranks.group("cp"), small_config(), one_local_layer(false));
      ADD_FAILURE() << "a layer without the group was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.parts().code, "RW-CP-004");
    }
  });
}

// The model with a window in every layer but the first.
struct Windowed {
  Windowed() : checkpoint(load_checkpoint(kModel, at::kFloat)) {
    model::LayerLimits& limits = checkpoint.config.limits;
    limits = {model::LayerLimits::Kind::window, "sliding_window", kWindow,
              std::vector<bool>(static_cast<size_t>(checkpoint.config.num_hidden_layers), true)};
    limits.limited[0] = false;
    model.emplace(checkpoint.config, checkpoint.parameters);
  }

  LoadedCheckpoint checkpoint;
  std::optional<LlamaModel> model;
};

TEST(Probe, FindsNoFaultInAModelWithWindowsByEveryMethod) {
  for (const int cp : kGroupSizes) {
    test::run_on_threads(cp, [&](const worker::ProcessGroups& ranks) {
      Windowed windowed;
      const std::vector<Row> rows = make_rows({23, 40, 9, 17});
      for (const recipe::SftConfig& config : {small_config(), packed_config()}) {
        for (const ProbeResult& result : probe(*windowed.model, config, ranks.group("cp"), {}, layout::method_names(), pointers(rows)))
          EXPECT_TRUE(!result.refusal.empty() || result.differences.largest() < kTolerance / 5) << cp << " " << to_json(result).dump();
      }
    });
  }
}

// T04: the window counts in global positions on both sides, and is not replaced by plain causal attention.
TEST(Probe, SeesADroppedWindow) {
  for (const int cp : kGroupSizes) {
    test::run_on_threads(cp, [&](const worker::ProcessGroups& ranks) {
      Windowed windowed;
      const std::vector<Row> rows = make_rows({23, 40, 9, 17});
      SftTrainerOptions options;
      options.attention = [&](const auto& layout) { return LayerAttentions(without_window(make_attention("ring", layout, ranks.group("cp")))); };
      EXPECT_GT(probe(*windowed.model, small_config(), ranks.group("cp"), options, {"ring"}, pointers(rows)).front().differences.largest(),
                10 * kTolerance)
          << "cp " << cp;
    });
  }
}

// Each data rank compares its own rows; a fault in those of one of them is everybody's result, though neither loss nor gradients show it.
TEST(Probe, CoversTheRowsOfEveryDataRank) {
  mesh::ParallelismSizes sizes;
  sizes.dp = 2, sizes.cp = 2;
  for (const int faulty : {-1, 0, 1}) {
    test::run_on_threads(
        4,
        [&](const worker::ProcessGroups& ranks) {
          Training training(ProcessGroup{}, at::kFloat);
          const std::vector<Row> rows = make_rows({23, 40, 9, 17});
          SftTrainerOptions options;
          options.data_parallel = {ranks.group("dp"), ranks.group("dp_cp")};
          const bool here = ranks.group("dp").rank == faulty;
          around_shard(options, ranks.group("cp"), [here](LocalMicrobatch& local) {
            if (!here) return;
            // The second position's target, the third token, is not trained on.
            local.gather = [gather = local.gather](const at::Tensor& local_BL) {
              at::Tensor whole_BS = gather(local_BL).clone();
              whole_BS.select(1, 1).add_(1);
              return whole_BS;
            };
          });
          const ProbeDifferences found =
              probe(training.model, small_config(), ranks.group("cp"), options, {"ring"}, pointers(rows)).front().differences;
          EXPECT_EQ(found.row_count, 4);
          EXPECT_LT(found.loss, kTolerance / 5);
          EXPECT_LT(found.gradients.front().second, kTolerance / 5);
          if (faulty < 0) {
            EXPECT_LT(found.logprobs, kTolerance / 5);
          } else {
            EXPECT_GT(found.logprobs, 10 * kTolerance) << "rank " << ranks.rank() << " does not see the fault of data rank " << faulty;
          }
        },
        sizes);
  }
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
  EXPECT_NEAR(differences(whole, other).largest(), 1e-7, 1e-9) << "rounding where the gradient is 0: by a hundredth of the largest gradient, 1";
  other.gradients["idle"] = at::full({2}, 1e-3);
  EXPECT_NEAR(differences(whole, other).largest(), 0.1, 1e-6) << "a gradient where there is to be none";
  Measurement none = whole;
  none.gradients["w"] = at::zeros({2});
  EXPECT_EQ(differences(none, whole).largest(), std::numeric_limits<double>::infinity()) << "no gradient at all on one side";
  other = whole;
  other.row_logprobs = {at::ones({4})};
  EXPECT_EQ(differences(whole, other).largest(), std::numeric_limits<double>::infinity()) << "another length";
  other = whole;
  other.loss = 1.5;
  EXPECT_NEAR(differences(whole, other).loss, 1.0 / 3, 1e-12);
}

}  // namespace
}  // namespace ringwright::worker

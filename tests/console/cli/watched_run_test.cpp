// What a run says of itself while it goes on: the third level of the support matrix, and what was expected beside what was measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/history/store.h"
#include "tests/console/cli/small_run.h"

namespace ringwright::cli {
namespace {

using test::Outcome;
using ::testing::HasSubstr;

class WatchedRun : public SmallRunTest {
 protected:
  std::vector<wire::Event> running_rows(const std::string& name) {
    const history::Reader reader(store());
    return reader.run_events(shown(name)["id"].get<std::string>(), {"guard.running"}, 100);
  }
  // Trains until both ranks have told of their memory with the optimizer's moments in it; gives back what `runs show` says after the end.
  nlohmann::json trained_for_a_while(const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"--name", name, "--detach"});
    EXPECT_EQ(run("demo-sft-cp2.yaml", more).exit_code, 0);
    wait_for_step(name, 3);
    const nlohmann::json before = shown(name)["ranks"];
    const auto both_told = [&] {
      const nlohmann::json ranks = shown(name)["ranks"];
      bool later = ranks.size() == 2 && before.size() == 2;
      for (size_t rank = 0; later && rank < 2; ++rank) later = ranks[rank]["time_unix_ns"] > before[rank]["time_unix_ns"];
      return later;
    };
    EXPECT_TRUE(eventually(both_told)) << before.dump(1) << ringwright({"logs", name}).out;
    EXPECT_EQ(ringwright({"stop", name}).exit_code, 0);
    EXPECT_TRUE(eventually([&] { return shown(name)["state"] == "stopped"; })) << shown(name).dump(1);
    return shown(name);
  }
};

// Each row is a long prompt with a short answer, so that the first of two contiguous halves holds prompts alone.
TEST_F(WatchedRun, ARankWithPromptsAloneIsReportedOnce) {
  std::string pairs;
  for (int i = 0; i < 40; ++i)
    pairs +=
        nlohmann::json{{"prompt", "In the " + std::to_string(i) + " year the word came again, and all the people heard it and"}, {"answer", " wept"}}
            .dump() +
        "\n";
  const std::filesystem::path data = folder_.write("pairs.jsonl", pairs);
  const std::vector<std::string> few = {"sft.max_num_steps=3", "++data.train.data_path=" + data.string()};
  std::vector<std::string> halves = {"--name", "halves", "+ringwright.cp.flavour=contiguous"}, whole = {"--name", "whole"};
  halves.insert(halves.end(), few.begin(), few.end()), whole.insert(whole.end(), few.begin(), few.end());
  const Outcome outcome = run("demo-sft-cp2.yaml", halves);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const std::vector<wire::Event> found = running_rows("halves");
  ASSERT_EQ(found.size(), 1U) << "once a run, not once a step";
  EXPECT_EQ(found[0].rank, 0);
  EXPECT_EQ(found[0].body["code"], "RW-GUARD-503");
  EXPECT_EQ(found[0].body["step"], 1);
  EXPECT_THAT(found[0].body["reason"].get<std::string>(), HasSubstr("of rank 0 in step 1 is trained on"));
  EXPECT_THAT(ringwright({"logs", "halves"}).out, HasSubstr("RW-GUARD-503"));
  EXPECT_EQ(run("demo-sft-cp1.yaml", whole).exit_code, 0);
  EXPECT_TRUE(running_rows("whole").empty()) << "one rank has prompts and answers";
}

// Two models differ in what their ranks take by what the estimates differ in: the program and its libraries are in both.
TEST_F(WatchedRun, TheEstimateIsNearWhatIsMeasured) {
  const std::filesystem::path wide = folder_ / "ringwright/models/wide";
  std::filesystem::create_directories(wide);
  std::filesystem::copy_file(model() / "tokenizer.json", wide / "tokenizer.json");
  make_model(wide, 512, 3);
  const nlohmann::json small_run = trained_for_a_while("small", {}), wide_run = trained_for_a_while("large", {"policy.model_name=wide"});
  const auto estimated = [](const nlohmann::json& run) { return run["estimate"]["memory_bytes"].get<double>(); };
  ASSERT_GT(estimated(small_run), 0);
  const double expected = estimated(wide_run) - estimated(small_run);
  ASSERT_GT(expected, 80e6) << "more than what an allocator's whims are";
  for (size_t rank = 0; rank < 2; ++rank) {
    const auto peak = [&](const nlohmann::json& run) { return run["ranks"][rank]["resident_bytes_max"].get<double>(); };
    const double measured = peak(wide_run) - peak(small_run);
    EXPECT_GT(measured, 0.6 * expected) << "rank " << rank;
    EXPECT_LT(measured, 2.5 * expected) << "rank " << rank;  // the peak has copies for a moment: of loading, of the sum of gradients, of the update
  }
  for (const nlohmann::json& run : {small_run, wide_run}) {
    ASSERT_EQ(run["checkpoints"].size(), 1U);
    const std::filesystem::path folder = run["checkpoints"][0]["path"].get<std::string>();
    const auto weights = static_cast<double>(std::filesystem::file_size(folder / "model.safetensors"));
    const auto foreseen = run["estimate"]["checkpoint_bytes"].get<double>();
    EXPECT_GE(weights, foreseen);
    EXPECT_LT(weights, foreseen + 64e3) << "names and shapes of the tensors stand before their values";
  }
  EXPECT_TRUE(running_rows("large").empty());
}

// Transformer Engine's fused Adam is AdamW here, whatever its moments are kept in.
TEST_F(WatchedRun, FusedAdamTrainsAsAdamW) {
  ASSERT_EQ(run("demo-sft-cp1.yaml", {"--name", "plain", "sft.max_num_steps=3"}).exit_code, 0);
  const Outcome fused =
      run("demo-sft-cp1.yaml",
          {"--name", "fused", "sft.max_num_steps=3", "policy.optimizer.name=transformer_engine.pytorch.optimizers.fused_adam.FusedAdam",
           "+policy.optimizer.kwargs.exp_avg_dtype=torch.bfloat16", "+policy.optimizer.kwargs.exp_avg_sq_dtype=torch.bfloat16",
           "+policy.optimizer.kwargs.master_weights=true", "+policy.optimizer.kwargs.store_param_remainders=true"});
  EXPECT_EQ(fused.exit_code, 0) << fused.out << fused.err;
  const nlohmann::json losses = losses_of("plain");
  ASSERT_EQ(losses.size(), 3U);
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_EQ(losses_of("fused")[i]["value"], losses[i]["value"]);
}

}  // namespace
}  // namespace ringwright::cli

// The main job with nothing replaced: `ringwright run`, the daemon it starts, and workers that train a very small model on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "shared/history/records.h"
#include "tests/console/cli/small_run.h"
#include "tests/deep_tier.h"
#include "tests/support/eventually.h"
#include "tests/support/processes.h"

namespace ringwright::cli {
namespace {

using test::Outcome;
using test::Program;
using ::testing::HasSubstr;

class FirstRun : public SmallRunTest {};

TEST_F(FirstRun, OneAndTwoRanksGiveTheSameLossesAndTheModelLearns) {
  const Outcome one = run("demo-sft-cp1.yaml", {"--name", "one", "sft.max_num_steps=50"});
  const Outcome two = run("demo-sft-cp2.yaml", {"--name", "two", "sft.max_num_steps=50"});
  EXPECT_EQ(one.exit_code, 0) << one.out << one.err;
  EXPECT_EQ(two.exit_code, 0) << two.out << two.err;
  const Outcome compared = ringwright({"runs", "compare", "one", "two", "--tolerance", "1e-4"});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("50 common steps"));
  const nlohmann::json losses = losses_of("two");
  ASSERT_EQ(losses.size(), 50u);
  EXPECT_LT(losses.back()["value"].get<double>(), losses.front()["value"].get<double>() - 0.1);

  const nlohmann::json record = shown("two"), last = json_of({"runs", "phases", "two"});
  EXPECT_EQ(last["step"], 50) << "no phase of a step counts for the next one";
  std::vector<std::string> phases;
  for (const nlohmann::json& phase : last["phases"]) phases.push_back(phase["phase"]);
  EXPECT_THAT(phases, ::testing::IsSupersetOf({"forward", "backward", "reduce", "optimizer"}));
  EXPECT_EQ(record["state"], "finished");
  ASSERT_EQ(record["checkpoints"].size(), 1u);
  const std::filesystem::path checkpoint = record["checkpoints"][0]["path"].get<std::string>();
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"}) EXPECT_TRUE(std::filesystem::exists(checkpoint / file)) << file;
  EXPECT_THAT(record["fingerprint"].dump(), HasSubstr("xxh3"));
}

TEST_F(FirstRun, ValidationWithoutALimitTakesAllRows) {
  std::ofstream few(folder_ / "few.txt");
  for (int i = 0; i < 40; ++i) few << "And in the " << i << " year the word came again.\n";
  few.close();
  const auto loss = [&](const std::string& name, int batches) {
    const Outcome outcome =
        run("demo-sft-cp1.yaml", {"--name", name, "sft.max_num_steps=1", "sft.val_at_start=true", "sft.val_batches=" + std::to_string(batches),
                                  "data.validation={data_path:" + (folder_ / "few.txt").string() + "}"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    const nlohmann::json points = points_of(name, "validation/val_loss");
    EXPECT_FALSE(points.empty());
    return points.empty() ? 0.0 : points.front()["value"].get<double>();
  };
  const double all = loss("all", -1);
  EXPECT_EQ(all, loss("many", 1000));
  EXPECT_NE(all, loss("first", 1));
}

// Packs train the same on one rank and on two, in every recipe for them; what the packs are is in the history too.
TEST_F(FirstRun, PackedRecipesGiveTheSameLosses) {
  const std::vector<std::string> small = {"sft.max_num_steps=" + std::to_string(test::by_tier(6, 50)), "policy.train_global_batch_size=16",
                                          "policy.sequence_packing.train_mb_tokens=128", "policy.sequence_packing.sequence_length_round=16"};
  const auto packed = [&](const std::string& recipe, const std::string& name) {
    std::vector<std::string> arguments = {"--name", name};
    arguments.insert(arguments.end(), small.begin(), small.end());
    const Outcome outcome = run("packed-sft-" + recipe + ".yaml", arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  };
  packed("cp1", "whole");
  for (const char* recipe : {"cp2-thd", "cp2-balanced"}) {
    packed(recipe, recipe);
    const Outcome parity = ringwright({"runs", "parity", "whole", recipe, "--tolerance", "1e-4"});
    EXPECT_EQ(parity.exit_code, 0) << parity.out << parity.err;
  }
  EXPECT_GT(shown("cp2-thd")["metrics"]["train/packs"]["value"].get<double>(), 1);
  const Outcome other = run("packed-sft-cp1.yaml", {"--name", "other", "sft.max_num_steps=1", "policy.train_global_batch_size=16",
                                                    "policy.sequence_packing.train_mb_tokens=64"});
  EXPECT_EQ(other.exit_code, 0) << other.out << other.err;
  EXPECT_EQ(ringwright({"runs", "parity", "whole", "other"}).exit_code, 3) << "other packs";
}

TEST_F(FirstRun, ProbeComparesEveryMethodWithOneRank) {
  const Outcome rows = probe("demo-sft-cp2.yaml", {"--all", "--json"});
  EXPECT_EQ(rows.exit_code, 0) << rows.out << rows.err;
  const nlohmann::json results = nlohmann::json::parse(rows.out);
  EXPECT_EQ(results["within_tolerance"], true);
  EXPECT_GE(results["results"].size(), 3u);
  EXPECT_LT(results["results"][0]["gradient_difference"].get<double>(), 1e-4);
  EXPECT_EQ(shown("last")["algorithm"], "probe");
  const Outcome packs = probe("packed-sft-cp2-thd.yaml", {"policy.train_global_batch_size=16", "policy.sequence_packing.train_mb_tokens=128"});
  EXPECT_EQ(packs.exit_code, 0) << packs.out << packs.err;
  EXPECT_THAT(packs.out, HasSubstr("within the tolerance"));
  EXPECT_EQ(rows.err, "") << "JSON alone";
  for (const char* words : {": starting 2 ranks (cp 2)\n", "The batch on one rank, to compare with\n", "Method 1 of 1: "})
    EXPECT_THAT(packs.err, HasSubstr(words)) << "what it does while it works";
  const Outcome strict = probe("demo-sft-cp2.yaml", {"--tolerance", "1e-12"});
  EXPECT_EQ(strict.exit_code, 1) << "float32 does not agree to 1e-12";
  EXPECT_THAT(strict.out, HasSubstr("differs"));
  EXPECT_EQ(probe("demo-sft-cp1.yaml", {}).exit_code, 2) << "nothing to compare";
}

// A recipe for NeMo RL's Megatron backend, as what it maps to; relaunched, it needs no mapping.
TEST_F(FirstRun, AMegatronRecipeRunsMapped) {
  const std::string file = folder_
                               .write("megatron.yaml", "defaults: " RINGWRIGHT_SOURCE_DIR
                                                       "/assets/recipes/demo-sft-cp1.yaml\n"
                                                       "policy:\n  max_total_sequence_length: 50\n  dtensor_cfg: {enabled: false}\n"
                                                       "  megatron_cfg:\n    enabled: true\n    context_parallel_size: 2\n"
                                                       "    optimizer: {optimizer: adam, lr: 0.003, weight_decay: 0.0}\n"
                                                       "    scheduler: {lr_decay_style: constant, lr_warmup_iters: 0}\n"
                                                       "sft: {max_num_steps: 2}\ncluster: {gpus_per_node: 2}\n")
                               .string();
  EXPECT_THAT(ringwright({"run", file}).err, HasSubstr("RW-GUARD-110"));
  const Outcome outcome = ringwright({"run", file, "--map", "megatron", "--name", "mapped"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  for (const char* words : {"as this engine takes them", "  policy.megatron_cfg.enabled=false\n", "  ++policy.dtensor_cfg.context_parallel_size=2\n"})
    EXPECT_THAT(outcome.err, HasSubstr(words));
  const nlohmann::json record = shown("mapped");
  EXPECT_EQ(record["mesh"]["cp"], 2);
  EXPECT_EQ(record["metrics"]["train/lr"]["value"], 0.003);
  EXPECT_THAT(record["overrides"].dump(), HasSubstr("++policy.optimizer.kwargs.lr=0.003"));
  EXPECT_EQ(ringwright({"relaunch", "mapped"}).exit_code, 0);
  EXPECT_EQ(shown("last")["mesh"]["cp"], 2);
  EXPECT_THAT(ringwright({"run", file, "--map", "megatron", "policy.megatron_cfg.optimizer.optimizer=sgd"}).err, HasSubstr("RW-GUARD-114"));
}

TEST_F(FirstRun, ARunMayProbeItsFirstBatch) {
  const Outcome outcome = run("demo-sft-cp2.yaml", {"sft.max_num_steps=2", "+ringwright.probe_first=true"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const std::string log = ringwright({"logs", "last"}).out;
  for (const char* part :
       {"run: running", "model: ", "probe: ", "step 1 of 2: loss ", "step 2 of 2: loss ", "checkpoint of step 2 saved: ", "run: finished"})
    EXPECT_THAT(log, HasSubstr(part));
  EXPECT_EQ(shown("last")["last_step"], 2);
}

// Weights that are no numbers give no parity: a run that probes first ends before a step, one that does not ends in it.
TEST_F(FirstRun, ADifferentFirstBatchStopsTheRunBeforeItsFirstStep) {
  const std::filesystem::path weights = model() / "model.safetensors";
  std::fstream file(weights, std::ios::in | std::ios::out | std::ios::binary);
  uint64_t header_bytes = 0;
  file.read(reinterpret_cast<char*>(&header_bytes), sizeof header_bytes);
  std::string header(header_bytes, ' ');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  const uint64_t begin = nlohmann::json::parse(header)["model.norm.weight"]["data_offsets"][0];
  file.seekp(static_cast<std::streamoff>(sizeof header_bytes + header_bytes + begin));
  file.write("\xff\xff\xff\xff", 4);  // in every type of float not a number
  file.close();
  const Outcome outcome = run("demo-sft-cp2.yaml", {"sft.max_num_steps=2", "+ringwright.probe_first=true"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("RW-PROBE-001"));
  const nlohmann::json record = shown("last");
  EXPECT_EQ(record["state"], "failed") << record.dump(1);
  EXPECT_THAT(ringwright({"runs", "metrics", "last", "--metric", "train/loss"}).err, HasSubstr("RW-CLI-010")) << "no step has a loss";
  EXPECT_TRUE(record["checkpoints"].empty());
  const Outcome without = run("demo-sft-cp2.yaml", {"sft.max_num_steps=2"});
  EXPECT_THAT(without.out + without.err, HasSubstr("RW-TRAIN-001"));
}

// T05: two data ranks of two context ranks each train on the same global batches as one rank, and one of the four saves.
TEST_F(FirstRun, T05DataAndContextRanksGiveTheLossesOfOneRank) {
  const std::string steps = "sft.max_num_steps=" + std::to_string(test::by_tier(8, 50));
  ASSERT_EQ(run("demo-sft-cp1.yaml", {"--name", "one", steps}).exit_code, 0);
  const Outcome split = run("demo-sft-cp2.yaml", {"--name", "split", steps, "cluster.gpus_per_node=4"});
  EXPECT_EQ(split.exit_code, 0) << split.out << split.err;
  EXPECT_THAT(split.out, HasSubstr("split on 4 ranks (dp_shard 2, cp 2)"));
  const Outcome compared = ringwright({"runs", "compare", "one", "split", "--tolerance", "1e-4"});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  EXPECT_EQ(shown("split")["checkpoints"].size(), 1u);
}

// Within ten seconds, also where only a lost connection tells the others.
TEST_F(FirstRun, AKilledWorkerFailsTheRunAndLeavesNoProcess) {
  constexpr double kDelayMax_s = 10;
  for (const std::string transport : {"auto", "gloo"}) {
    SCOPED_TRACE(transport);
    const std::string id = run("demo-sft-cp2.yaml", {"--detach", "--json", "++ringwright.cp.transport=" + transport}).out;
    wait_for_step("last", 2);
    const std::vector<pid_t> second = workers(1);
    ASSERT_EQ(second.size(), 1u) << id;
    ::kill(second.front(), SIGKILL);
    ASSERT_TRUE(test::eventually([&] { return shown("last")["state"] == "failed"; }, kDelayMax_s)) << shown("last").dump(1);
    EXPECT_EQ(shown("last")["failed_rank"], 1);
    EXPECT_THAT(shown("last")["reason"].get<std::string>(), HasSubstr("signal 9"));
    EXPECT_TRUE(eventually([&] { return workers().empty(); }));
  }
}

TEST_F(FirstRun, AKilledDaemonLosesNoStepAndItsWorkersEnd) {
  ASSERT_EQ(ringwright({"daemon", "start", "--orphan-grace-s", "0.5"}).exit_code, 0);
  const auto daemon = json_of({"daemon", "status"})["pid"].get<pid_t>();
  run("demo-sft-cp2.yaml", {"--detach"});
  wait_for_step("last", 5);
  const int seen = shown("last")["last_step"];
  ::kill(daemon, SIGKILL);
  EXPECT_TRUE(eventually([&] { return workers().empty(); }));
  ASSERT_EQ(ringwright({"daemon", "start"}).exit_code, 0);
  EXPECT_EQ(shown("last")["state"], "lost");
  const nlohmann::json losses = losses_of("last");
  ASSERT_GE(losses.size(), static_cast<size_t>(seen));
  for (size_t i = 0; i < losses.size(); ++i) ASSERT_EQ(losses[i]["step"], i + 1);
}

TEST_F(FirstRun, StopEndsAfterTheStepWithACheckpoint) {
  run("demo-sft-cp2.yaml", {"--detach"});
  wait_for_step("last", 2);
  EXPECT_EQ(ringwright({"stop", "last"}).exit_code, 0);
  ASSERT_TRUE(eventually([&] { return shown("last")["state"] == "stopped"; })) << shown("last").dump(1);
  EXPECT_EQ(shown("last")["reason"], "on request");
  EXPECT_EQ(shown("last")["checkpoints"].size(), 1u);
  EXPECT_TRUE(eventually([&] { return workers().empty(); }));
}

// T35 with real steps: the time of a step with a console that takes nothing (`ringwright run`, stopped by SIGSTOP) against one that follows.
TEST_F(FirstRun, T35AStalledConsoleDoesNotSlowTraining) {
  if (!test::deep_tier()) GTEST_SKIP() << "takes minutes: deep tier";
  constexpr int kPairs = 3, kSteps = 3000;  // more events than a subscriber's queue holds
  ASSERT_EQ(ringwright({"daemon", "start"}).exit_code, 0);
  const auto step_seconds = [&](const std::string& name, bool stalled) {
    Program console(folder_.path(), run_arguments("demo-sft-cp2.yaml", {"policy.max_total_sequence_length=50", "sft.max_num_epochs=1000000", "--name",
                                                                        name, "sft.max_num_steps=" + std::to_string(kSteps)}));
    EXPECT_TRUE(eventually([&] { return console.out().find("step 1") != std::string::npos; })) << console.err();
    if (stalled) ::kill(console.pid(), SIGSTOP);
    EXPECT_TRUE(test::eventually([&] { return history::is_final(history::run_state_from_string(shown(name)["state"].get<std::string>())); }, 300));
    EXPECT_EQ(shown(name)["last_step"], kSteps) << "the run waits for the console";
    ::kill(console.pid(), SIGCONT);
    EXPECT_EQ(console.wait().exit_code, 0) << "what it missed it fetches";
    std::vector<double> seconds;
    for (const auto& point : points_of(name, "timing/train/total_step_time")) seconds.push_back(point["value"].get<double>());
    const size_t tenth = seconds.size() / 10;
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(tenth), seconds.end());
    return seconds.at(tenth);
  };
  // The fast steps: what slows a core for seconds (another program, a neighbour on the host) is not in them, what slows every step is.
  double followed = INFINITY, stalled = INFINITY;
  for (int pair = 0; pair < kPairs; ++pair) {
    followed = std::min(followed, step_seconds("followed" + std::to_string(pair), false));
    stalled = std::min(stalled, step_seconds("stalled" + std::to_string(pair), true));
  }
  std::printf("a step takes %.3f ms with a console that follows, %.3f ms with one that stalls\n", 1e3 * followed, 1e3 * stalled);
  EXPECT_LT(stalled, 1.05 * followed);
}

}  // namespace
}  // namespace ringwright::cli

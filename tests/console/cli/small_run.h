// The demo's recipes over a very small model, trained by real workers on the CPU.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/console/cli/demo_folder.h"
#include "tests/support/eventually.h"
#include "tests/support/processes.h"

namespace ringwright::cli {

// A training run may take long to start on a busy machine.
template <class Condition>
bool eventually(Condition holds) {
  constexpr double kPatience_s = 60;
  return test::eventually(holds, kPatience_s);
}

class SmallRunTest : public DemoTest {
 protected:
  void SetUp() override {
    write_text(2000, [](int i) { return "And it came to pass in the " + std::to_string(i) + " year, that the word came."; });
    make_model(model(), 32, 2);
  }
  void TearDown() override { ringwright({"daemon", "stop"}); }

  // A model with random weights in a folder that has the demo's tokenizer.
  void make_model(const std::filesystem::path& folder, int hidden_size, int layers) {
    std::ofstream(folder / "config.json") << nlohmann::json{{"model_type", "llama"},
                                                            {"architectures", {"LlamaForCausalLM"}},
                                                            {"vocab_size", 2048},
                                                            {"hidden_size", hidden_size},
                                                            {"intermediate_size", 2 * hidden_size},
                                                            {"num_hidden_layers", layers},
                                                            {"num_attention_heads", 2},
                                                            {"num_key_value_heads", 1},
                                                            {"head_dim", hidden_size / 2},
                                                            {"max_position_embeddings", 512},
                                                            {"rms_norm_eps", 1e-5},
                                                            {"eos_token_id", 2},
                                                            {"tie_word_embeddings", false},
                                                            {"hidden_act", "silu"}};
    const test::Outcome weights = test::Program(folder_.path(), {"--init", folder.string(), "--seed", "3"}, "ringwright-worker").wait();
    ASSERT_EQ(weights.exit_code, 0) << weights.err;
  }

  // Steps without end, unless `more` says otherwise.
  test::Outcome run(const std::string& recipe, std::vector<std::string> more) {
    more.insert(more.begin(), {"policy.max_total_sequence_length=50", "sft.max_num_epochs=1000000", "sft.max_num_steps=1000000"});
    return ringwright(run_arguments(recipe, std::move(more)));
  }
  nlohmann::json points_of(const std::string& run, const std::string& metric) {
    return json_of({"runs", "metrics", run, "-m", metric})["metrics"][metric];
  }
  nlohmann::json losses_of(const std::string& run) { return points_of(run, "train/loss"); }
  test::Outcome probe(const std::string& recipe, std::vector<std::string> more) {
    more.insert(more.begin(), {"probe", std::string(RINGWRIGHT_SOURCE_DIR) + "/assets/recipes/" + recipe, "policy.max_total_sequence_length=50"});
    return ringwright(std::move(more));
  }
  void wait_for_step(const std::string& run, int step) {
    ASSERT_TRUE(eventually([&] { return shown(run).value("last_step", -1) >= step; })) << ringwright({"logs", run}).out;
  }

  // The worker processes of this test's daemon; `rank` -1: all of them.
  std::vector<pid_t> workers(int rank = -1) const { return test::worker_processes(folder_.path().string(), rank); }
};

}  // namespace ringwright::cli

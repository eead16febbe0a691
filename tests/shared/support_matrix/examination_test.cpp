#include "shared/support_matrix/examination.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::support_matrix {
namespace {

constexpr const char* kConfig =
    R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 512, "hidden_size": 64, "intermediate_size": 160,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2})";
constexpr const char* kRecipe =
    "sft: {}\ncluster: {gpus_per_node: 4}\npolicy: {model_name: model, max_total_sequence_length: 13, train_micro_batch_size: 2,\n"
    "  train_global_batch_size: 8, dtensor_cfg: {enabled: true, context_parallel_size: 4}}\ndata: {train: {data_path: a.txt}}\n";

// How often a file has been opened since this was made.
class OpenCount {
 public:
  explicit OpenCount(const std::filesystem::path& file) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(::inotify_add_watch(fd_, file.c_str(), IN_OPEN), 0);
  }
  ~OpenCount() { ::close(fd_); }
  OpenCount(const OpenCount&) = delete;
  OpenCount& operator=(const OpenCount&) = delete;

  int take() const {
    alignas(inotify_event) std::array<char, 4096> bytes;
    int count = 0;
    for (ssize_t filled = 0; (filled = ::read(fd_, bytes.data(), bytes.size())) > 0;)
      for (ssize_t at = 0; at < filled; ++count)
        at += static_cast<ssize_t>(sizeof(inotify_event) + reinterpret_cast<const inotify_event*>(bytes.data() + at)->len);
    return count;
  }

 private:
  int fd_;
};

class ExaminationTest : public ::testing::Test {
 protected:
  ExaminationTest() {
    std::filesystem::create_directories(folder_ / "model");
    std::ofstream(folder_ / "model" / "config.json") << kConfig;
    std::ofstream(folder_ / "recipe.yaml") << kRecipe;
  }
  recipe::Recipe recipe(const std::vector<std::string>& overrides = {}) const { return recipe::load_recipe(folder_ / "recipe.yaml", overrides); }

  test::TemporaryFolder folder_;
};

TEST_F(ExaminationTest, ReadsTheModelsConfigOnce) {
  const OpenCount opened(folder_ / "model" / "config.json");
  const Examination examination = examine(recipe());
  EXPECT_EQ(opened.take(), 1) << "for the rows, the plan, the flow and the estimate together";
  ASSERT_TRUE(examination.model && examination.plan && examination.flow && examination.estimate);
  EXPECT_EQ(examination.flow->sizes.hidden, 64);
  EXPECT_EQ(examination.flow->sizes.method, examination.plan->method);
  EXPECT_GT(examination.estimate->memory_bytes(), 0);
}

TEST_F(ExaminationTest, SaysWhatCheckSays) {
  const auto findings = check(recipe());
  const Examination examination = examine(recipe());
  ASSERT_EQ(examination.findings.size(), findings.size());
  for (size_t i = 0; i < findings.size(); ++i) EXPECT_EQ(to_json(examination.findings[i]), to_json(findings[i]));
}

TEST_F(ExaminationTest, WithoutFilesThereIsAStepButNoModel) {
  const OpenCount opened(folder_ / "model" / "config.json");
  const Examination examination = examine(recipe(), {.look_at_files = false});
  EXPECT_EQ(opened.take(), 0);
  EXPECT_TRUE(examination.flow);
  EXPECT_FALSE(examination.model || examination.plan || examination.estimate || examination.step_fault);
}

TEST_F(ExaminationTest, ASizeThatMakesNoMeshLeavesTheFindings) {
  const Examination examination = examine(recipe({"policy.dtensor_cfg.context_parallel_size=3"}));
  EXPECT_TRUE(refused(examination.findings));
  ASSERT_TRUE(examination.step_fault);
  EXPECT_EQ(examination.step_fault->code, "RW-GUARD-002");
  EXPECT_FALSE(examination.flow || examination.estimate);
  EXPECT_TRUE(examination.model);
}

TEST_F(ExaminationTest, ARecipeOfNoAlgorithmStillHasAModel) {
  const OpenCount opened(folder_ / "model" / "config.json");
  const Examination examination = examine(recipe({"~sft"}));
  EXPECT_EQ(opened.take(), 1);
  EXPECT_TRUE(examination.model);
  ASSERT_TRUE(examination.step_fault);
}

}  // namespace
}  // namespace ringwright::support_matrix

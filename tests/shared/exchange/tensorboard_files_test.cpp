#include "shared/exchange/tensorboard_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "shared/exchange/import.h"
#include "shared/history/comparison.h"
#include "shared/tensorboard/event.h"
#include "shared/tensorboard/record_file.h"
#include "shared/tensorboard/wire_format.h"
#include "tests/shared/exchange/sample_run.h"
#include "tests/support/error_of.h"

namespace ringwright::exchange {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using ::testing::HasSubstr;

// An event file as NeMo RL's logger leaves one: a value of each metric a step.
class EventFile {
 public:
  explicit EventFile(double time_s) : time_s_(time_s) {
    tensorboard::Event first;
    first.wall_time_s = time_s;
    first.file_version = tensorboard::kFileVersion;
    add(first);
  }
  EventFile& scalar(int64_t step, const std::string& tag, double value) {
    tensorboard::Event event;
    event.wall_time_s = time_s_ + static_cast<double>(step);
    event.step = step;
    event.scalars = {{tag, value}};
    return add(event);
  }
  EventFile& record(const std::string& bytes) {
    bytes_ += tensorboard::frame_record(bytes);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  EventFile& add(const tensorboard::Event& event) { return record(tensorboard::encode_event(event)); }

  double time_s_;
  std::string bytes_;
};

// What add_hparams writes for a setting that is a text, and one that is a number.
std::string hyperparameters(const std::string& text_name, const std::string& text, const std::string& number_name, double number) {
  using tensorboard::MessageWriter;
  MessageWriter text_value, number_value, text_entry, number_entry, session, content, plugin, metadata, value, summary, event;
  text_value.bytes(3, text), number_value.number(2, number);
  text_entry.bytes(1, text_name).bytes(2, text_value.message());
  number_entry.bytes(1, number_name).bytes(2, number_value.message());
  session.bytes(1, text_entry.message()).bytes(1, number_entry.message());
  content.bytes(3, session.message());
  plugin.bytes(1, "hparams").bytes(2, content.message());
  metadata.bytes(1, plugin.message());
  value.bytes(1, "_hparams_/session_start_info").bytes(9, metadata.message());
  summary.bytes(1, value.message());
  return event.bytes(5, summary.message()).message();
}

class EventFiles : public ::testing::Test {
 protected:
  fs::path store() const { return folder_.store(); }
  history::testing::TemporaryFolder folder_;
};

TEST_F(EventFiles, WhatIsExportedComesBackInThirtyTwoBits) {
  write_sample_run(store());
  const history::Reader before(store());
  const std::vector<fs::path> files = export_tensorboard(before, before.run(kRun), folder_ / "logs");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[1].parent_path().filename(), "rank1");
  for (const fs::path& file : files) {  // every frame and checksum
    tensorboard::RecordFile records(file);
    for (std::string record; records.next(record);) tensorboard::decode_event(record);
    EXPECT_EQ(records.bytes_cut_off(), 0u);
    EXPECT_FALSE(fs::exists(file.string() + ".part"));
  }
  const fs::path other = folder_ / "other.db";
  const std::vector<ImportReport> reports = import_runs(other, folder_ / "logs");
  ASSERT_EQ(reports.size(), 2u);
  const history::Reader after(other);
  for (const char* name : {"train/loss", "train/odd"}) {
    const auto was = before.metric(kRun, name), is = after.metric(reports[0].run, name);
    ASSERT_EQ(is.size(), was.size()) << name;
    for (size_t i = 0; i < is.size(); ++i) {
      EXPECT_EQ(is[i].step, was[i].step);
      EXPECT_EQ(history::difference(is[i].value, static_cast<double>(static_cast<float>(was[i].value))), 0) << name << " " << was[i].step;
      EXPECT_NEAR(static_cast<double>(is[i].time_unix_ns), static_cast<double>(was[i].time_unix_ns), 1000);
    }
  }
}

// Last month's run, to be compared with today's: names, steps, sizes and settings are there.
TEST_F(EventFiles, ANemoRlRunBecomesARun) {
  EventFile file(1'730'000'000);
  for (int64_t step = 1; step <= 5; ++step)
    file.scalar(step, "train/loss", 2.0 / static_cast<double>(step))
        .scalar(step, "train/num_unmasked_tokens", 4096)
        .scalar(step, "timing/train/total_step_time", 1.5);
  file.scalar(5, "validation/val_loss", 1.25);
  folder_.write("exp_001/tensorboard/events.out.tfevents.1730000000.node.1.0", file.bytes());
  EventFile settings(1'730'000'000);
  settings.record(hyperparameters("policy.model_name", "Qwen/Qwen2.5-1.5B", "policy.dtensor_cfg.context_parallel_size", 2));
  folder_.write("exp_001/tensorboard/1730000000.5/events.out.tfevents.1730000000.node.1.1", settings.bytes());
  const std::vector<ImportReport> reports = import_runs(store(), folder_ / "exp_001");
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].points, 16u);
  const history::Reader reader(store());
  const history::RunRecord run = reader.run(reports[0].run);
  EXPECT_EQ(run.name, "exp_001/tensorboard");
  EXPECT_EQ(run.algorithm, "sft");
  EXPECT_EQ(run.state, history::RunState::finished);
  EXPECT_EQ(run.last_step, 5);
  EXPECT_EQ(run.recipe.at("policy").at("model_name"), "Qwen/Qwen2.5-1.5B");
  EXPECT_EQ(run.mesh.at("cp"), 2);
  EXPECT_EQ(run.started_unix_ns, 1'730'000'001'000'000'000);
  EXPECT_EQ(reader.metric_names(run.id),
            (std::vector<std::string>{"timing/train/total_step_time", "train/loss", "train/num_unmasked_tokens", "validation/val_loss"}));
  EXPECT_EQ(reader.metric(run.id, "train/loss").size(), 5u);
  EXPECT_EQ(reader.find("recipe.policy.model_name ~ qwen and mesh.cp = 2 and validation/val_loss.last < 2").size(), 1u);
}

TEST_F(EventFiles, ImportedTwiceIsRecognised) {
  folder_.write("logs/events.out.tfevents.1", EventFile(1'730'000'000).scalar(1, "a", 1).bytes());
  const ImportReport first = import_runs(store(), folder_ / "logs").at(0), second = import_runs(store(), folder_ / "logs").at(0);
  EXPECT_FALSE(first.already_there);
  EXPECT_TRUE(second.already_there);
  EXPECT_EQ(first.run, second.run);
  EXPECT_EQ(history::Reader(store()).runs().size(), 1u);
}

// T29: a file that has steps again is a resume, and its values are the curve's.
TEST_F(EventFiles, AResumeHidesWhatWasThereBefore) {
  EventFile first(1'730'000'000), second(1'730'001'000), third(1'730'002'000);
  for (int64_t step = 1; step <= 10; ++step) first.scalar(step, "train/loss", 1);
  for (int64_t step = 8; step <= 12; ++step) second.scalar(step, "train/loss", 2);
  third.scalar(13, "train/loss", 3);  // goes on where the second ended
  folder_.write("logs/events.out.tfevents.1", first.bytes());
  folder_.write("logs/events.out.tfevents.2", second.bytes());
  folder_.write("logs/events.out.tfevents.3", third.bytes());
  const ImportReport report = import_runs(store(), folder_ / "logs").at(0);
  const history::Reader reader(store());
  std::vector<double> values;
  for (const history::MetricPoint& point : reader.metric(report.run, "train/loss")) values.push_back(point.value);
  EXPECT_EQ(values, (std::vector<double>{1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3}));
  EXPECT_EQ(reader.run(report.run).segment, 2);
  EXPECT_EQ(reader.metric(report.run, "train/loss", 0, -1, 1).size(), 10u) << "what is hidden is kept";
}

TEST_F(EventFiles, FilesOfOtherTagsBelongToOneRun) {
  folder_.write("logs/events.out.tfevents.1", EventFile(1'730'000'000).scalar(1, "a", 1).scalar(9, "a", 1).bytes());
  folder_.write("logs/events.out.tfevents.2", EventFile(1'730'000'100).scalar(1, "b", 2).bytes());
  const ImportReport report = import_runs(store(), folder_ / "logs").at(0);
  EXPECT_EQ(history::Reader(store()).run(report.run).segment, 1);
  EXPECT_EQ(history::Reader(store()).metric(report.run, "a").size(), 2u);
}

TEST_F(EventFiles, EachFolderIsARunAndOneNameIsNotForMany) {
  folder_.write("all/one/events.out.tfevents.1", EventFile(1'730'000'000).scalar(1, "a", 1).bytes());
  folder_.write("all/two/deep/events.out.tfevents.1", EventFile(1'730'000'000).scalar(1, "a", 2).bytes());
  EXPECT_EQ(test::error_code([&] { import_runs(store(), folder_ / "all", "name"); }), "RW-IMPORT-001");
  const auto reports = import_runs(store(), folder_ / "all");
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].name, "all/one");
  EXPECT_EQ(reports[1].name, "all/two/deep");
  EXPECT_EQ(import_runs(folder_ / "x.db", folder_ / "all/one/events.out.tfevents.1", "mine").at(0).name, "mine");
}

TEST_F(EventFiles, OneDamagedFileLetsNothingIn) {
  folder_.write("all/good/events.out.tfevents.1", EventFile(1'730'000'000).scalar(1, "a", 1).bytes());
  std::string bad = EventFile(1'730'000'000).scalar(1, "a", 1).scalar(2, "a", 1).bytes();
  bad[40] = static_cast<char>(bad[40] ^ 1);
  folder_.write("all/worse/events.out.tfevents.1", bad);
  const ErrorParts parts = test::error_of([&] { import_runs(store(), folder_ / "all"); });
  EXPECT_EQ(parts.code, "RW-TB-002");
  EXPECT_THAT(parts.where, HasSubstr("worse/events.out.tfevents.1: record"));
  EXPECT_FALSE(fs::exists(store()));
}

TEST_F(EventFiles, AKilledJobsLastRecordIsLeftOutAndSaid) {
  std::string bytes = EventFile(1'730'000'000).scalar(1, "a", 1).scalar(2, "a", 1).bytes();
  bytes.resize(bytes.size() - 3);
  folder_.write("logs/events.out.tfevents.1", bytes);
  const ImportReport report = import_runs(store(), folder_ / "logs").at(0);
  EXPECT_EQ(report.points, 1u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_THAT(report.notes[0], HasSubstr("never finished"));
}

TEST_F(EventFiles, WhatIsNoRunIsRefused) {
  fs::create_directories(folder_ / "empty");
  folder_.write("others/events.out.tfevents.1", EventFile(1).bytes());
  folder_.write("text/tfevents.txt", "not at all");
  folder_.write("minus/events.out.tfevents.1", EventFile(1'730'000'000).scalar(-1, "a", 1).bytes());
  const auto code = [&](const char* place) { return test::error_code([&] { import_runs(store(), folder_ / place); }); };
  EXPECT_EQ(code("empty"), "RW-TB-004");
  EXPECT_EQ(code("others"), "RW-TB-004") << "no scalar in it";
  EXPECT_EQ(code("text"), "RW-TB-004") << "shorter than a record's head";
  EXPECT_EQ(code("minus"), "RW-TB-005");
  EXPECT_FALSE(fs::exists(store()));
}

TEST_F(EventFiles, AnExportThatCannotBeWrittenLeavesNothing) {
  write_sample_run(store());
  const history::Reader reader(store());
  folder_.write("file", "in the way");
  EXPECT_EQ(test::error_code([&] { export_tensorboard(reader, reader.run(kRun), folder_ / "file"); }), "RW-CLI-011");
}

}  // namespace
}  // namespace ringwright::exchange

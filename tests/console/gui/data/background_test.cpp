// Questions to a history file, and edits of it, away from the draw thread.
#include "console/gui/data/background.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>

#include "console/gui/data/demo_recording.h"
#include "console/gui/data/history_edits.h"
#include "console/gui/data/run_parity.h"
#include "console/gui/data/source.h"
#include "tests/support/eventually.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::gui {
namespace {

class Asked : public ::testing::Test {
 protected:
  void SetUp() override { demo::write_history(file_, 4, 2); }

  // What an edit has told the console.
  State edited(const Edit& edit) {
    UpdateQueue queue;
    State state;
    state.apply(RunsRead{history::Reader(file_).runs()});
    edit_history(queue, file_, edit);
    for (Update& update : queue.take(100)) state.apply(std::move(update));
    return state;
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "history.db";
};

TEST_F(Asked, TheLastQuestionIsTheOneThatIsAnswered) {
  Background background([this] { return file_; });
  Question<std::string> question;
  for (const char* text : {"first", "second", "third"})
    question.ask(background, [text](const Background::Access& access) { return text + std::to_string(access.reader.runs().size()); });
  EXPECT_TRUE(question.waiting());
  EXPECT_TRUE(test::eventually([&] { return question.take(); }));
  EXPECT_EQ(question.value(), "third4");
  EXPECT_FALSE(question.waiting());
}

TEST_F(Asked, AnErrorStandsBesideTheLastGoodAnswer) {
  Background background([this] { return file_; });
  Question<size_t> question;
  const auto find = [](const char* query) { return [query](const Background::Access& access) { return access.reader.find(query).size(); }; };
  question.ask(background, find("mesh.cp >= 2"));
  ASSERT_TRUE(test::eventually([&] { return question.take(); }));
  const size_t good = *question.value();
  question.ask(background, find("mesh.cp >="));
  ASSERT_TRUE(test::eventually([&] { return question.take(); }));
  ASSERT_TRUE(question.error().has_value());
  EXPECT_EQ(question.error()->code, "RW-QUERY-001");
  EXPECT_EQ(question.value(), good);
}

TEST_F(Asked, WithoutAFileTheReasonIsSaid) {
  Background background([] { return std::filesystem::path(); });
  Question<int> question;
  question.ask(background, [](const Background::Access&) { return 1; });
  ASSERT_TRUE(test::eventually([&] { return question.take(); }));
  EXPECT_EQ(question.error()->code, "RW-GUI-008");
}

TEST_F(Asked, AnEditTellsTheRunAsItIsAndCanBeUndone) {
  const std::string id = demo::record_of(1).id;
  State state = edited({Edit::What::add_tag, {id}, "keep"});
  EXPECT_THAT(state.find(id)->record.tags, ::testing::Contains("keep"));
  std::vector<Notice> notices = state.take_notices();
  ASSERT_EQ(notices.size(), 1u);
  ASSERT_TRUE(notices[0].undo.has_value());
  state = edited(*notices[0].undo);
  EXPECT_THAT(state.find(id)->record.tags, ::testing::Not(::testing::Contains("keep")));

  notices = edited({Edit::What::add_note, {id}, "look at step 500"}).take_notices();
  EXPECT_EQ(history::Reader(file_).notes(id).back().text, "look at step 500");
  edited(*notices.at(0).undo);
  for (const history::NoteRecord& note : history::Reader(file_).notes(id)) EXPECT_NE(note.text, "look at step 500");
}

TEST_F(Asked, UndoingAnEditOfManyLeavesAloneWhatWasSoBefore) {
  const std::string a = demo::record_of(1).id, b = demo::record_of(2).id;
  edited({Edit::What::add_tag, {a}, "keep"});
  std::vector<Notice> notices = edited({Edit::What::add_tag, {a, b}, "keep"}).take_notices();
  ASSERT_TRUE(notices.at(0).undo);
  EXPECT_THAT(notices[0].undo->runs, ::testing::ElementsAre(b));
  State state = edited(*notices[0].undo);
  EXPECT_THAT(history::Reader(file_).run(a).tags, ::testing::Contains("keep"));
  EXPECT_THAT(history::Reader(file_).run(b).tags, ::testing::Not(::testing::Contains("keep")));

  edited({Edit::What::archive, {b}});
  notices = edited({Edit::What::archive, {a, b}}).take_notices();
  EXPECT_THAT(notices.at(0).undo.value().runs, ::testing::ElementsAre(a));
  EXPECT_FALSE(edited({Edit::What::archive, {a, b}}).take_notices().at(0).undo) << "nothing has changed";
  EXPECT_THAT(edited({Edit::What::remove_tag, {a, b}, "keep"}).take_notices().at(0).undo.value().runs, ::testing::ElementsAre(a));
}

TEST_F(Asked, AnEditOfAFileThatIsNoneSaysSo) {
  std::ofstream(folder_.path() / "text.db") << "no database";
  for (const char* name : {"text.db", "folder"}) {
    std::filesystem::create_directories(folder_.path() / "folder");
    UpdateQueue queue;
    edit_history(queue, folder_.path() / name, {Edit::What::archive, {"r_1"}});
    const std::vector<Update> updates = queue.take(10);
    ASSERT_EQ(updates.size(), 1u) << name;
    EXPECT_EQ(std::get<Notice>(updates[0]).level, Notice::Level::error) << name;
  }
}

TEST_F(Asked, AnEditThatFailsInTheMiddleSaysWhatWasDoneAndWhatNot) {
  const std::string id = demo::record_of(1).id;
  State state = edited({Edit::What::archive, {id, "r_nowhere"}});
  EXPECT_TRUE(state.find(id)->record.archived);
  const std::vector<Notice> notices = state.take_notices();
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices[1].level, Notice::Level::error);
  EXPECT_THAT(notices[1].text, ::testing::StartsWith("r_nowhere: "));
}

TEST_F(Asked, ADeletedRunIsGone) {
  const std::string id = demo::record_of(3).id;
  EXPECT_EQ(edited({Edit::What::remove, {id}}).find(id), nullptr);
  EXPECT_EQ(history::Reader(file_).runs().size(), 3u);
}

TEST_F(Asked, ParityCountsEqualStepsOfEachCommonMetric) {
  const std::string a = demo::record_of(0).id, b = demo::record_of(1).id;
  const history::Reader reader(file_);
  for (const ParityRow& row : compare_metrics(reader, a, a).rows) {
    EXPECT_EQ(row.equal_bits, row.common) << row.metric;
    EXPECT_FALSE(row.first_different_step.has_value()) << row.metric;
  }
  const RunParity other = compare_metrics(reader, a, b);
  ASSERT_EQ(other.rows.size(), 4u);
  EXPECT_EQ(other.rows[2].metric, "train/loss");
  EXPECT_EQ(other.rows[2].first_different_step, 1);
}

TEST(Parity, SaysWhyStepsOfRunsInAnotherOrderTellNothing) {
  const test::TemporaryFolder folder;
  history::Writer writer(folder / "history.db", {});
  for (const uint64_t seed : {1, 2}) {
    history::RunRecord run;
    run.id = "r_0000000" + std::to_string(seed);
    run.algorithm = "sft";
    run.recipe = {{"sft", {{"max_num_steps", 5}, {"seed", seed}}},
                  {"policy", {{"model_name", "tiny"}, {"max_total_sequence_length", 512}}},
                  {"data", {{"train", {{"dataset_name", "verse"}}}}},
                  {"cluster", {{"num_nodes", 1}, {"gpus_per_node", 1}}}};
    writer.create_run(run);
  }
  const history::Reader reader(folder / "history.db");
  EXPECT_EQ(compare_metrics(reader, "r_00000001", "r_00000002").not_comparable, "sft.seed is 1 in one and 2 in the other");
  EXPECT_EQ(compare_metrics(reader, "r_00000001", "r_00000001").not_comparable, "");
}

// A history that lies where no file can be.
TEST(DaemonSourceTest, WhatItsThreadMeetsIsSaidAndDoesNotEndTheProgram) {
  const test::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  ::setenv("XDG_STATE_HOME", (folder.path() / std::string(300, 'x')).c_str(), 1);
  UpdateQueue queue;
  State state;
  const std::unique_ptr<Source> source = make_daemon_source(queue);
  const auto take = [&] {
    for (Update& update : queue.take(UpdateQueue::kUpdatesMax)) state.apply(std::move(update));
  };
  EXPECT_TRUE(test::eventually([&] { return take(), state.failure().has_value(); }));
  EXPECT_EQ(state.failure().value_or(ErrorParts{}).code, "RW-GUI-020");
  source->edit({Edit::What::archive, {"r_1"}});
  std::vector<Notice> notices;
  EXPECT_TRUE(test::eventually([&] { return take(), !(notices = state.take_notices()).empty(); })) << "it goes on";
  EXPECT_EQ(notices.at(0).level, Notice::Level::error);
  queue.close();
}

}  // namespace
}  // namespace ringwright::gui

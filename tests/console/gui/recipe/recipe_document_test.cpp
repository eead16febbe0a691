#include "console/gui/recipe/recipe_document.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "console/gui/recipe/recipe_journal.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::gui {
namespace {

const std::string kText = "policy:\n  cp: 2 # ranks\n  tp: 1\n";

RecipeDocument document() { return {"/r.yaml", kText}; }

std::string replaced(std::string text, const std::string& from, const std::string& to) { return text.replace(text.find(from), from.size(), to); }

TEST(RecipeDocument, AnEditNamesItsKeyAndItsValues) {
  RecipeDocument edited = document();
  ASSERT_TRUE(edited.change_to(replaced(kText, "cp: 2", "cp: 4"), EditOrigin::mesh, 0));
  ASSERT_EQ(edited.steps().size(), 1u);
  const DocumentEdit& step = edited.steps().front();
  EXPECT_EQ(step.key, "policy.cp");
  EXPECT_EQ(step.before, "2");
  EXPECT_EQ(step.after, "4");
  EXPECT_EQ(step.origin, EditOrigin::mesh);
  EXPECT_TRUE(edited.is_dirty());
  EXPECT_FALSE(edited.change_to(edited.text(), EditOrigin::mesh, 1)) << "the same text is no edit";
}

TEST(RecipeDocument, TypingMergesWithinEightTenthsOfASecond) {
  RecipeDocument edited = document();
  std::string text = kText;
  int64_t now = 1000;
  for (const char letter : std::string("56")) {
    text.insert(text.find(" # ranks"), 1, letter);
    edited.change_to(text, EditOrigin::typing, now += kTypingMergeMs);
  }
  EXPECT_EQ(edited.steps().size(), 1u);
  EXPECT_EQ(edited.steps().back().after, "256");
  text.insert(text.find(" # ranks"), 1, '7');
  edited.change_to(text, EditOrigin::typing, now + kTypingMergeMs + 1);
  EXPECT_EQ(edited.steps().size(), 2u) << "too late";
  edited.change_to(replaced(text, "tp: 1", "tp: 2"), EditOrigin::typing, now + kTypingMergeMs + 2);
  EXPECT_EQ(edited.steps().size(), 3u) << "another key";
  while (edited.undo()) {
  }
  EXPECT_EQ(edited.text(), kText);
  EXPECT_FALSE(edited.is_dirty());
}

TEST(RecipeDocument, BackspaceBeyondWhatWasTypedIsStillOneStep) {
  RecipeDocument edited = document();
  edited.change_to(replaced(kText, "cp: 2", "cp: 28"), EditOrigin::typing, 0);
  edited.change_to(kText, EditOrigin::typing, 10);
  edited.change_to(replaced(kText, "cp: 2", "cp: "), EditOrigin::typing, 20);
  EXPECT_EQ(edited.steps().size(), 1u);
  edited.undo();
  EXPECT_EQ(edited.text(), kText);
  edited.redo();
  EXPECT_EQ(edited.text(), replaced(kText, "cp: 2", "cp: "));
}

TEST(RecipeDocument, AnEditAfterAnUndoDropsWhatWasUndone) {
  RecipeDocument edited = document();
  edited.change_to(replaced(kText, "cp: 2", "cp: 4"), EditOrigin::form, 0);
  edited.undo();
  edited.change_to(replaced(kText, "tp: 1", "tp: 2"), EditOrigin::form, 0);
  EXPECT_FALSE(edited.redo());
  EXPECT_EQ(edited.steps().size(), 1u);
}

TEST(RecipeDocument, KeepsAThousandSteps) {
  RecipeDocument edited = document();
  for (int i = 0; i < 1100; ++i) edited.change_to("a: " + std::to_string(i), EditOrigin::form, i);
  EXPECT_EQ(edited.steps().size(), kUndoStepsMax);
  while (edited.undo()) {
  }
  EXPECT_EQ(edited.text(), "a: 99");
}

TEST(RecipeDocument, ChangesNeverCutACharacter) {
  const TextChange change = difference("a: \xC3\xA4", "a: \xC3\xB6");
  EXPECT_EQ(change.removed, "\xC3\xA4");
  EXPECT_EQ(change.inserted, "\xC3\xB6");
}

class Journal : public ::testing::Test {
 protected:
  std::string bytes() const {
    std::ifstream stream(folder_.path() / "recipe-journal-0.jsonl", std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(folder_.path() / "recipe-journal-0.jsonl", std::ios::binary) << bytes; }

  test::TemporaryFolder folder_;
};

TEST_F(Journal, UnsavedEditsAndTheirStepsComeBack) {
  std::string wanted;
  {
    RecipeJournal journal(folder_.path());
    RecipeDocument edited = document();
    journal.follow(edited);
    edited.change_to(replaced(kText, "cp: 2", "cp: 4"), EditOrigin::fix, 0);
    edited.mark_saved();
    edited.change_to(replaced(edited.text(), "tp: 1", "tp: \"\xC3\xA4\""), EditOrigin::typing, 1);
    edited.change_to("policy: {}\n", EditOrigin::paste, 2);
    edited.undo();
    wanted = edited.text();
  }
  RecipeJournal journal(folder_.path());
  std::optional<RecipeDocument> found = journal.recover();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text(), wanted);
  EXPECT_EQ(found->saved_text(), replaced(kText, "cp: 2", "cp: 4"));
  EXPECT_EQ(found->position(), 2u);
  EXPECT_TRUE(found->redo());
  EXPECT_EQ(found->text(), "policy: {}\n");
  found->undo();
  found->undo();
  found->undo();
  EXPECT_EQ(found->text(), kText);
}

TEST_F(Journal, WhatWasSavedIsNotOfferedAgainAndLeavesNoFile) {
  {
    RecipeJournal journal(folder_.path());
    RecipeDocument edited = document();
    journal.follow(edited);
    edited.change_to("a: 1", EditOrigin::form, 0);
    edited.mark_saved();
  }
  {
    RecipeJournal journal(folder_.path());
    EXPECT_FALSE(journal.recover());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Journal, ALineThatWasCutOffIsLeftOut) {
  {
    RecipeJournal journal(folder_.path());
    RecipeDocument edited = document();
    journal.follow(edited);
    edited.change_to("a: 1", EditOrigin::form, 0);
    edited.change_to("a: 2", EditOrigin::form, 0);
  }
  const std::string whole = bytes();
  write(whole.substr(0, whole.size() - 5));
  RecipeJournal journal(folder_.path());
  const std::optional<RecipeDocument> found = journal.recover();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->text(), "a: 1");
}

TEST_F(Journal, ADamagedOneIsSetAsideWithANotice) {
  for (const std::string damaged : {"nonsense\n", "{\"ringwright-recipe-journal\":2}\n",
                                    "{\"ringwright-recipe-journal\":1,\"file\":\"/r\",\"saved\":\"a\",\"text\":\"a\"}\n{\"do\":\"redo\"}\n"}) {
    write(damaged);
    RecipeJournal journal(folder_.path());
    EXPECT_FALSE(journal.recover());
    EXPECT_NE(journal.notice().find("recipe-journal-0.jsonl.damaged"), std::string::npos) << damaged;
  }
}

TEST_F(Journal, TwoConsolesKeepTwoJournals) {
  const RecipeJournal first(folder_.path()), second(folder_.path());
  EXPECT_NE(first.file(), second.file());
  EXPECT_TRUE(second.notice().empty());
}

TEST_F(Journal, AFolderThatCannotBeWrittenIsSaid) {
  const RecipeJournal journal("/proc/nothing");
  EXPECT_NE(journal.notice(), "");
}

TEST_F(Journal, APipeInItsPlaceIsSaidAndNobodyWaitsForIt) {
  ASSERT_EQ(::mkfifo((folder_.path() / "recipe-journal-0.jsonl").c_str(), 0600), 0);
  RecipeJournal journal(folder_.path());
  EXPECT_FALSE(journal.recover());
  EXPECT_NE(journal.notice().find("recipe-journal-0.jsonl is a pipe"), std::string::npos) << journal.notice();
  RecipeDocument edited = document();
  journal.follow(edited);
  edited.change_to("a: 1", EditOrigin::form, 0);
}

}  // namespace
}  // namespace ringwright::gui

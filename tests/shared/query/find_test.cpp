// Queries over a history with a handful of runs: which they find, and in which order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "shared/history/edits.h"
#include "shared/history/store.h"
#include "tests/shared/history/temporary_store.h"
#include "tests/support/error_of.h"

namespace ringwright::history {
namespace {

using ::testing::ElementsAre;
using testing::metric;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

class Find : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder;
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    write();
  }
  static void TearDownTestSuite() { delete folder_; }

  // a: failed on cp 2, its loss falls to 2.0; b: finished on cp 4, archived; c: NaN at the end; d: nothing but its row; e: a resume.
  static void write() {
    {
      Writer writer(folder_->store(), {});
      add(writer, "a", 2, "Qwen/Qwen2.5-1.5B", {3.0, 2.5, 2.0}, RunState::failed, "rank 1 was killed");
      add(writer, "b", 4, "meta-llama/Llama-3.2-1B", {3.0, 1.0}, RunState::finished, "");
      add(writer, "c", 2, "Qwen/Qwen3-8B", {5.0, std::numeric_limits<double>::infinity(), std::nan("")}, RunState::finished, "");
      add(writer, "d", 1, "", {}, RunState::stopped, "on request");
      add(writer, "e", 1, "Qwen/Qwen3-8B", {9.0, 8.0, 7.0, 6.0}, RunState::running, "");
      writer.append(testing::make_event(id("e"), wire::Kind::event, -1, 0, {{"name", "run.segment"}, {"segment", 2}}));
      for (int64_t step : {3, 4, 5})
        writer.append(metric(id("e"), 0, static_cast<uint64_t>(step), step, "train/loss", 4.0 - 0.5 * static_cast<double>(step - 3)));
      writer.append(
          testing::make_event(id("c"), wire::Kind::event, -1, 0, {{"name", "alert"}, {"kind", "nan"}, {"topic", "train/loss"}, {"text", "t"}}));
      writer.flush();
    }
    Editor editor(folder_->store());
    editor.add_tag(id("a"), "bad");
    editor.add_tag(id("a"), "spike");
    editor.add_tag(id("c"), "good");
    editor.add_note(id("a"), "someone", "Loss spike at step 2");
    editor.set_archived(id("b"), true);
  }

  static std::string id(const std::string& letter) { return "r_0000000" + letter; }

  static void add(Writer& writer, const std::string& letter, int cp, const std::string& model, const std::vector<double>& losses, RunState state,
                  const std::string& reason) {
    static int64_t number = 0;
    RunRecord run = testing::make_run(id(letter), "run-" + letter);
    run.created_unix_ns = 1'793'413'600 * kSecond + ++number * kDay;  // the n-th of November 2026
    run.mesh["cp"] = cp;
    run.world_size = cp;
    run.recipe = {{"policy", {{"train_global_batch_size", 8 * cp}, {"sequence_packing", {{"enabled", cp > 1}}}}}};
    if (!model.empty()) run.recipe["policy"]["model_name"] = model;
    writer.create_run(run);
    writer.set_state(run.id, RunState::running, "");
    for (size_t i = 0; i < losses.size(); ++i) writer.append(metric(run.id, 0, i + 1, static_cast<int64_t>(i) + 1, "train/loss", losses[i]));
    writer.flush();
    if (state != RunState::running) writer.set_state(run.id, state, reason, state == RunState::failed ? 1 : -1);
  }

  // The letters of the runs found.
  static std::string found(const std::string& query, size_t limit = 100) {
    std::string letters;
    for (const RunRecord& run : Reader(folder_->store()).find(query, limit)) letters += run.id.back();
    return letters;
  }

  static testing::TemporaryFolder* folder_;
};
testing::TemporaryFolder* Find::folder_ = nullptr;

struct Case {
  const char* query;
  const char* runs;  // in the order found
};

TEST_F(Find, WhatQueriesMean) {
  const Case cases[] = {
      {"", "edca"},
      {"archived = true", "b"},
      {"archived = true or archived = false", "edcba"},
      {"state = failed", "a"},
      {"state != failed", "edc"},
      {"state in (failed, stopped)", "da"},
      {"state not in (failed, stopped)", "ec"},
      {"not (state = failed or state = running)", "dc"},
      {"state ~ ^f", "ca"},
      {"mesh.cp >= 2", "ca"},
      {"ranks = 1", "ed"},
      {"name ~ RUN-[ac]", "ca"},
      {"name !~ \"-A$\"", "edc"},
      {"recipe.policy.model_name ~ \"qwen\"", "eca"},
      {"recipe.policy.model_name ~ \"qwen\" and state = failed and mesh.cp >= 2 and loss.last < 2.1 order by started desc limit 20", "a"},
      {"recipe.policy.model_name is null", "d"},
      {"recipe.policy.model_name is not null and ranks = 1", "e"},
      {"recipe.policy.model_name = null", "d"},
      {"recipe.policy.model_name != \"Qwen/Qwen3-8B\"", "da"},  // what a run does not have is different
      {"recipe.policy.train_global_batch_size = 16", "ca"},
      {"recipe.policy.train_global_batch_size = \"16\"", ""},  // a text is no number
      {"recipe.policy.train_global_batch_size > 0.008k", "ca"},
      {"recipe.policy.sequence_packing.enabled = true", "ca"},
      {"recipe.policy.sequence_packing.enabled != true", "ed"},
      {"recipe.policy.model_name > 5", ""},  // nor is a name above every number
      {"step = 3", "ca"},
      {"step is null", "d"},
      {"failed_rank = 1", "a"},
      {"reason ~ killed", "a"},
      {"tag = bad", "a"},
      {"tag != bad", "edc"},
      {"tag in (bad, good)", "ca"},
      {"tag ~ ^s", "a"},
      {"tag is null", "ed"},
      {"tag is not null", "ca"},
      {"note ~ \"spike\"", "a"},
      {"alert = nan", "c"},
      {"alert is null", "eda"},
      {"created > 2026-11-02", "edc"},
      {"created = 2026-11-01", "a"},
      {"created <= 2026-11-01", "a"},
      {"created < 2026-11-02", "a"},
      {"created >= 2026-11-04", "ed"},
      {"created = 2026-11-04 or created = 2026-11-05", "ed"},
      {"started > 1h ago", "edca"},
      {"ended is null", "e"},
      {"elapsed < 1h", "edca"},
      {"segments = 2", "e"},
      {"order by name", "acde"},
      {"order by name desc", "edca"},
      {"order by mesh.cp desc, name", "acde"},
      {"order by loss.last", "aedc"},  // NaN and none stand at the end
      {"order by loss.last desc limit 1", "e"},
      {"limit 2", "ed"},
  };
  for (const Case& each : cases) EXPECT_EQ(found(each.query), each.runs) << each.query;
}

TEST_F(Find, MetricsAsTheRunsCurveHasThem) {
  const Case cases[] = {
      {"loss.last < 2.1", "a"},
      {"train/loss.last < 2.1", "a"},
      {"loss.last = 3.0", "e"},
      {"loss.first = 3", "a"},
      {"loss.first = 9", "e"},
      {"loss.min = 2", "a"},
      {"loss.max = 3", "a"},
      {"loss.max > 1e300", "c"},  // infinity
      {"loss.max = inf", "c"},
      {"loss.mean = 2.5", "a"},
      {"loss.count = 3", "ca"},
      {"loss.count = 5", "e"},  // two of the first segment,
                                // three of the second
      {"loss.max = 9", "e"},    // 7 and 6 are hidden, 9 is not
      {"loss.min = 3", "e"},
      {"loss.nan > 0", "c"},
      {"loss.inf = 1", "c"},
      {"loss.nan = 0", "ea"},
      {"loss.last = nan", "c"},
      {"loss.last != nan", "eda"},
      {"loss.last > 0", "ea"},  // NaN is above nothing
      {"not loss.last > 0", "dc"},
      {"loss.last is null", "dc"},
      {"loss.count is null", "d"},
  };
  for (const Case& each : cases) EXPECT_EQ(found(each.query), each.runs) << each.query;
}

// The language knows every state that a run can have.
TEST_F(Find, EveryStateCanBeAskedFor) {
  for (int state = 0; state <= static_cast<int>(RunState::lost); ++state)
    EXPECT_NO_THROW(found("state = " + std::string(to_string(static_cast<RunState>(state))))) << state;
}

TEST_F(Find, ValuesCannotLeaveTheirPlace) {
  EXPECT_EQ(found("name = \"x' OR 1=1 --\""), "");
  EXPECT_EQ(found("tag = \"'; DROP TABLE run; --\""), "");
  EXPECT_EQ(found("name ~ \"[\\\"']\""), "");
  EXPECT_EQ(found("").size(), 4u);
}

TEST_F(Find, AnUnknownNameHasTheNearestOne) {
  const ErrorParts parts = test::error_of([&] { found("mesh.cp = 2 and recipe.policy.model_nam ~ x"); });
  EXPECT_EQ(parts.code, "RW-QUERY-002");
  EXPECT_EQ(parts.where, "column 17 of the query");
  EXPECT_EQ(parts.action, "did you mean 'recipe.policy.model_name'?");
}

// The widest query that is let through is still one that SQLite takes.
TEST_F(Find, LongQueriesRun) {
  std::string query = "name = run-a", list = "name in (x";
  for (int i = 0; i < 199; ++i) query += " or loss.min < 0";
  for (int i = 0; i < 400; ++i) list += ", y" + std::to_string(i);
  EXPECT_EQ(found(query), "a");
  EXPECT_EQ(found(list + ", run-d)"), "d");
  std::string nots;
  for (int i = 0; i < 60; ++i) nots += "not ";
  EXPECT_EQ(found(nots + "name = run-a"), "a");
}

TEST_F(Find, TheLimitOfTheCallerHoldsWhereTheQueryHasNone) {
  EXPECT_EQ(found("", 1), "e");
  EXPECT_EQ(found("limit 3", 1), "edc");
}

TEST_F(Find, RecipesComeWhenTheyAreAskedFor) {
  const Reader reader(folder_->store());
  EXPECT_TRUE(reader.find("tag = good").at(0).recipe.is_null());
  EXPECT_EQ(reader.find("tag = good", 1, Reader::Parts::all).at(0).recipe.at("policy").at("model_name"), "Qwen/Qwen3-8B");
}

}  // namespace
}  // namespace ringwright::history

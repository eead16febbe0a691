// What is wrong with a query, at which column, and what would be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shared/query/query.h"
#include "tests/support/error_of.h"

namespace ringwright::query {
namespace {

using test::error_of;
using testing::HasSubstr;

Context context() {
  Context context;
  context.vocabulary.metric_names = [] { return std::vector<std::string>{"train/loss", "train/grad_norm", "validation/val_loss", "a.b"}; };
  context.vocabulary.setting_names = [] {
    return std::vector<std::string>{"mesh.cp", "mesh.tp", "recipe.policy.model_name", "recipe.policy.precision", "fingerprint.node"};
  };
  return context;
}

struct BadQuery {
  const char* text;
  const char* code;
  int column;
  const char* hint;  // somewhere in what was expected or what to do
};

class BadQueries : public testing::TestWithParam<BadQuery> {};

TEST_P(BadQueries, AreRefusedWithColumnAndHint) {
  const BadQuery& bad = GetParam();
  const ErrorParts parts = error_of([&] { compile(bad.text, context()); });
  EXPECT_EQ(parts.code, bad.code) << bad.text << ": " << parts.what;
  EXPECT_EQ(parts.where, "column " + std::to_string(bad.column) + " of the query") << bad.text;
  EXPECT_THAT(parts.expected + " " + parts.action, HasSubstr(bad.hint)) << bad.text;
  EXPECT_EQ(parts.exit_code, ExitCode::usage);
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, BadQueries,
    testing::Values(BadQuery{"state", "RW-QUERY-001", 6, "is null"}, BadQuery{"state =", "RW-QUERY-001", 8, "a value"},
                    BadQuery{"state = failed adn name = x", "RW-QUERY-001", 16, "did you mean 'and'?"},
                    BadQuery{"(state = failed", "RW-QUERY-001", 1, "')'"}, BadQuery{"state = failed)", "RW-QUERY-001", 15, "and, or, order by"},
                    BadQuery{"name = \"x", "RW-QUERY-001", 8, "another \""}, BadQuery{"! state = failed", "RW-QUERY-001", 1, "!="},
                    BadQuery{"and state = failed", "RW-QUERY-001", 1, "a field"}, BadQuery{"state = and", "RW-QUERY-001", 9, "a value"},
                    BadQuery{"name in x", "RW-QUERY-001", 9, "'('"}, BadQuery{"name in (x y)", "RW-QUERY-001", 12, "','"},
                    BadQuery{"name is x", "RW-QUERY-001", 9, "null"}, BadQuery{"order started", "RW-QUERY-001", 7, "by"},
                    BadQuery{"limit many", "RW-QUERY-001", 7, "whole number"}, BadQuery{"limit", "RW-QUERY-001", 6, "whole number"},
                    BadQuery{"limit 3 order by name", "RW-QUERY-001", 9, "nothing more"}, BadQuery{"mesh. = 1", "RW-QUERY-001", 1, "mesh.cp"},
                    BadQuery{"nämé = \"ü\" und", "RW-QUERY-001", 12, "and"}));

INSTANTIATE_TEST_SUITE_P(Fields, BadQueries,
                         testing::Values(BadQuery{"stat = failed", "RW-QUERY-002", 1, "did you mean 'state'?"},
                                         BadQuery{"cp >= 2", "RW-QUERY-002", 1, "mesh.cp"}, BadQuery{"mesh.cpp = 2", "RW-QUERY-002", 1, "mesh.cp"},
                                         BadQuery{"name = x and recipe.policy.modelname ~ q", "RW-QUERY-002", 14, "recipe.policy.model_name"},
                                         BadQuery{"los.last < 2", "RW-QUERY-002", 1, "loss.last"},
                                         BadQuery{"loss < 2", "RW-QUERY-002", 1, "loss.last"},
                                         BadQuery{"validation/val_los.min < 2", "RW-QUERY-002", 1, "validation/val_loss.min"},
                                         BadQuery{"order by startd", "RW-QUERY-002", 10, "started"}));

INSTANTIATE_TEST_SUITE_P(
    Values, BadQueries,
    testing::Values(BadQuery{"state = faild", "RW-QUERY-003", 9, "did you mean 'failed'?"},
                    BadQuery{"state in (failed, don)", "RW-QUERY-003", 19, "running, paused, stopping, finished"},
                    BadQuery{"state = pausd", "RW-QUERY-003", 9, "did you mean 'paused'?"},
                    BadQuery{"mesh.cp >= two", "RW-QUERY-003", 12, "a number"}, BadQuery{"mesh.cp ~ 2", "RW-QUERY-003", 9, "="},
                    BadQuery{"state < failed", "RW-QUERY-003", 7, "in (...)"}, BadQuery{"ranks > two", "RW-QUERY-003", 9, "a number"},
                    BadQuery{"ranks > \"2\"", "RW-QUERY-003", 9, "a number"}, BadQuery{"loss.last < nan", "RW-QUERY-003", 11, "in (...)"},
                    BadQuery{"loss.min = nan", "RW-QUERY-003", 12, "loss.nan > 0"}, BadQuery{"started > november", "RW-QUERY-003", 11, "2026-11-01"},
                    BadQuery{"elapsed > long", "RW-QUERY-003", 11, "1h30m"}, BadQuery{"archived = maybe", "RW-QUERY-003", 12, "true or false"},
                    BadQuery{"step ~ 3", "RW-QUERY-003", 6, "="}, BadQuery{"order by tag", "RW-QUERY-003", 10, "one value"},
                    BadQuery{"name ~ \"(\"", "RW-QUERY-004", 8, "backslash"}));

TEST(QueryBounds, NestingAndLengthAreBounded) {
  const auto code = [](const std::string& text) { return error_of([&] { compile(text, context()); }).code; };
  EXPECT_EQ(code(std::string(5000, '(') + "name = x" + std::string(5000, ')')), "RW-QUERY-005");
  EXPECT_EQ(code(std::string(100, '(') + "name = x"), "RW-QUERY-005");
  std::string nots, many = "name = x", list = "name in (x";
  for (int i = 0; i < 200; ++i) nots += "not ", many += " or name = x";
  for (int i = 0; i < 600; ++i) list += ", x";
  EXPECT_EQ(code(nots + "name = x"), "RW-QUERY-005");
  EXPECT_EQ(code(many), "RW-QUERY-005");
  EXPECT_EQ(code(list + ")"), "RW-QUERY-005");
  EXPECT_EQ(code("name = \"" + std::string(20'000, 'x') + "\""), "RW-QUERY-005");
}

// No value becomes part of the statement.
TEST(QueryParameters, EveryValueTravelsAsAParameter) {
  const Compiled compiled =
      compile("name = \"x'; DROP TABLE run; --\" and recipe.policy.model_name ~ \"q'wen\" and loss.last < 2.125 limit 7", context());
  for (const char* part : {"DROP", "q'wen", "2.125", "policy.model_name", "train/loss"})
    EXPECT_EQ(compiled.sql.find(part), std::string::npos) << compiled.sql;
  EXPECT_EQ(compiled.limit, 7);
  EXPECT_GE(compiled.parameters.size(), 6u);
}

TEST(QueryFields, TheStatesAreNamedInTheHelp) {
  const std::vector<FieldHelp> help = field_help();
  const auto state = std::find_if(help.begin(), help.end(), [](const FieldHelp& field) { return field.name == "state"; });
  ASSERT_NE(state, help.end());
  EXPECT_EQ(state->meaning, "queued, starting, running, paused, stopping, finished, failed, stopped, lost");
}

TEST(QueryFields, EachHasATypeAndAMeaning) {
  for (const FieldHelp& field : field_help()) EXPECT_FALSE(field.name.empty() || field.type.empty() || field.meaning.empty()) << field.name;
}

}  // namespace
}  // namespace ringwright::query

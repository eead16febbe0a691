// One key changes in the text, and every other byte stays.
#include "shared/recipe/text_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "shared/base/error.h"
#include "shared/recipe/recipe.h"
#include "tests/support/error_of.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::recipe {
namespace {

namespace fs = std::filesystem;
using test::error_code;
using test::error_of;
using test::TemporaryFolder;
using testing::HasSubstr;

std::string set(const std::string& text, const std::string& change) { return edit_text(text, "recipe.yaml", parse_set(change)); }
std::string unset(const std::string& text, const std::string& key) { return edit_text(text, "recipe.yaml", make_unset(key)); }

struct Change {
  const char* what;
  const char* before;
  const char* change;  // "a.b=c", or "~a.b" to remove
  const char* after;
};

void PrintTo(const Change& change, std::ostream* stream) { *stream << change.what; }

class TextEdits : public testing::TestWithParam<Change> {};

TEST_P(TextEdits, ChangeThatAndNothingElse) {
  const Change& change = GetParam();
  const std::string asked = change.change;
  EXPECT_EQ(asked[0] == '~' ? unset(change.before, asked.substr(1)) : set(change.before, asked), change.after);
}

INSTANTIATE_TEST_SUITE_P(
    Values, TextEdits,
    testing::Values(
        Change{"a number with its comment", "a: 1  # one\nb: 2\n", "a=5", "a: 5  # one\nb: 2\n"},
        Change{"as somebody wrote it", "lr: 5.0e-6\n", "lr=1e-5", "lr: 1e-5\n"}, Change{"no final line end", "a: 1\nb: 2", "b=3", "a: 1\nb: 3"},
        Change{"CRLF", "a: 1\r\nb: 2\r\n", "a=3", "a: 3\r\nb: 2\r\n"}, Change{"the same value: nothing", "a:   1  \n", "a=1", "a:   1  \n"},
        Change{"another kind of the same number", "a: 1\n", "a=1.0", "a: 1.0\n"}, Change{"single quotes stay", "a: 'x'\n", "a=y", "a: 'y'\n"},
        Change{"double quotes stay", "a: \"x\"\n", "a=y", "a: \"y\"\n"}, Change{"quotes go with the text", "a: 'x'\n", "a=3", "a: 3\n"},
        Change{"a text that needs quotes", "a: x\n", "a=yes", "a: \"yes\"\n"},
        Change{"an apostrophe in single quotes", "a: 'x'\n", "a=\"it's\"", "a: 'it''s'\n"}, Change{"null", "a: x\n", "a=null", "a: null\n"},
        Change{"a word for null", "a: ~ # c\nb: [null, &x Null]\n", "a=1", "a: 1 # c\nb: [null, &x Null]\n"},
        Change{"null in a list", "b: [null, &x Null ]\n", "b.1=1", "b: [null, &x 1 ]\n"},
        Change{"an empty value", "a:\nb: 1\n", "a=2", "a: 2\nb: 1\n"},
        Change{"an empty value before a comment", "a:   # none\nb: 1\n", "a=2", "a: 2   # none\nb: 1\n"},
        Change{"an anchor that nobody uses stays", "a: &x 1\n", "a=2", "a: &x 2\n"},
        Change{"an alias is written out", "a: &x 1\nb: *x\n", "b=2", "a: &x 1\nb: 2\n"}, Change{"a tag goes", "a: !!str 1\n", "a=2", "a: 2\n"},
        Change{"in braces", "a: {b: 1, c: 2}\n", "a.b=3", "a: {b: 3, c: 2}\n"},
        Change{"a text in braces that needs quotes there", "a: {b: x}\n", "a.b='p,q'", "a: {b: \"p,q\"}\n"},
        Change{"in a list", "a: [1, 2, 3]\n", "a.1=9", "a: [1, 9, 3]\n"},
        Change{"in a list of maps", "a:\n- b: 1\n  c: 2\n- b: 3\n", "a.1.b=4", "a:\n- b: 1\n  c: 2\n- b: 4\n"},
        Change{"a list for a list", "a: [1, 2]  # pair\n", "a=[3]", "a: [3]  # pair\n"},
        Change{"a list of lines", "a:  # c\n  - 1\n  - 2\nb: 1\n", "a=[3, x]", "a: [3, x]  # c\nb: 1\n"},
        Change{"a block of text", "a: |\n  x\n  y\n\nb: 1\n", "a=z", "a: z\n\nb: 1\n"},
        Change{"text over several lines", "a: x\n  y\n  z # c\nb: 1\n", "a=w", "a: w # c\nb: 1\n"},
        Change{"a byte order mark",
               "\xef\xbb\xbf"
               "a: 1\n",
               "a=2",
               "\xef\xbb\xbf"
               "a: 2\n"},
        Change{"characters of several bytes before it", "ä: 'é'  # ü\nb: {ö: 1, c: 2}\n", "b.c=3", "ä: 'é'  # ü\nb: {ö: 1, c: 3}\n"},
        Change{"a key in quotes", "\"a\": 1\n", "a=2", "\"a\": 2\n"}, Change{"an interpolation", "a: 1\nb: 2\n", "b='${a}'", "a: 1\nb: ${a}\n"}));

INSTANTIATE_TEST_SUITE_P(
    NewKeys, TextEdits,
    testing::Values(Change{"behind the last key of its section", "p:\n    a: 1  # c\n    # end of p\nq: 2\n", "p.b=3",
                           "p:\n    a: 1  # c\n    b: 3\n    # end of p\nq: 2\n"},
                    Change{"at the end, without a final line end", "a: 1", "b.c=2", "a: 1\nb:\n  c: 2"},
                    Change{"CRLF", "a:\r\n   b: 1\r\n", "a.c.d=2", "a:\r\n   b: 1\r\n   c:\r\n      d: 2\r\n"},
                    Change{"an empty file", "", "a.b=1", "a:\n  b: 1\n"}, Change{"only comments", "# c", "a=1", "# c\na: 1"},
                    Change{"in braces", "a: {b: 1}\n", "a.c.d=2", "a: {b: 1, c: {d: 2}}\n"},
                    Change{"in empty braces", "a: {}  # c\n", "a.b=1", "a: {b: 1}  # c\n"},
                    Change{"below a key without a value", "a:  # c\nb: 1\n", "a.c.d=1", "a:  # c\n  c:\n    d: 1\nb: 1\n"},
                    Change{"for an explicit null", "a: null\n", "a.b=1", "a: {b: 1}\n"},
                    Change{"what a merge says is overridden beside it", "x: &x {b: 1, c: 2}\na:\n  <<: *x\n", "a.b=5",
                           "x: &x {b: 1, c: 2}\na:\n  <<: *x\n  b: 5\n"},
                    Change{"in a list of maps", "a:\n  - b: 1\n  - b: 2\n", "a.0.c=3", "a:\n  - b: 1\n    c: 3\n  - b: 2\n"},
                    Change{"behind a block of text", "a:\n  b: |\n    x\n\nc: 1\n", "a.d=2", "a:\n  b: |\n    x\n  d: 2\n\nc: 1\n"},
                    Change{"before a block of text that ends with the file", "a:\n  b: |\n    x", "a.d=2", "a:\n  d: 2\n  b: |\n    x"},
                    Change{"before the end of the document", "a: 1\n...\n", "b=2", "a: 1\nb: 2\n...\n"},
                    Change{"braces over several lines", "a: {\n  b: 1,  # x\n  c: 2   # y\n}\n", "a.d=3",
                           "a: {\n  b: 1,  # x\n  c: 2, d: 3   # y\n}\n"}));

INSTANTIATE_TEST_SUITE_P(
    Removals, TextEdits,
    testing::Values(Change{"its line", "# top\na: 1  # c\n# of b\nb: 2\n", "~a", "# top\n# of b\nb: 2\n"},
                    Change{"the last line without a final line end", "a: 1\nb: 2", "~b", "a: 1"},
                    Change{"a section", "a:\n  b: 1\n  c:\n    d: 2\ne: 3\n", "~a", "e: 3\n"},
                    Change{"the only key of a section leaves an empty map", "a:  # c\n  b: 1\ne: 3\n", "~a.b", "a: {}  # c\ne: 3\n"},
                    Change{"the only key", "# c\na: 1\n", "~a", "# c\n"}, Change{"first in braces", "a: {b: 1, c: 2}\n", "~a.b", "a: {c: 2}\n"},
                    Change{"last in braces", "a: {b: 1, c: 2}\n", "~a.c", "a: {b: 1}\n"}, Change{"alone in braces", "a: {b: 1}\n", "~a.b", "a: {}\n"},
                    Change{"behind a dash", "a:\n- b: 1\n  c: 2\n", "~a.0.b", "a:\n- c: 2\n"},
                    Change{"behind a dash, a comment after it", "a:\n- b: 1\n  # of c\n  c: 2\n", "~a.0.b", "a:\n- \n  # of c\n  c: 2\n"},
                    Change{"an element", "a:\n- 1\n- 2  # c\n- 3\n", "~a.1", "a:\n- 1\n- 3\n"},
                    Change{"an element in brackets", "a: [1, 2, 3]\n", "~a.2", "a: [1, 2]\n"},
                    Change{"the only element", "a:\n- 1\n", "~a.0", "a: []\n"},
                    Change{"one of several lines in braces", "a: {\n  b: 1,\n  c: 2\n}\n", "~a.b", "a: {\n  c: 2\n}\n"},
                    Change{"a merge shows through", "x: &x {b: 1}\na:\n  <<: *x\n  b: 2\n", "~a.b", "x: &x {b: 1}\na:\n  <<: *x\n"}));

struct Refusal {
  const char* what;
  const char* text;
  const char* change;
  const char* code;
  const char* word;
};

void PrintTo(const Refusal& refusal, std::ostream* stream) { *stream << refusal.what; }

class TextEditRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(TextEditRefusals, NameWhatStandsInTheWay) {
  const Refusal& refusal = GetParam();
  const std::string asked = refusal.change;
  const ErrorParts parts = error_of([&] { asked[0] == '~' ? unset(refusal.text, asked.substr(1)) : set(refusal.text, asked); });
  EXPECT_EQ(parts.code, refusal.code) << parts.what;
  EXPECT_THAT(parts.what, HasSubstr(refusal.word));
  EXPECT_THAT(parts.where, HasSubstr("recipe.yaml"));
}

INSTANTIATE_TEST_SUITE_P(
    All, TextEditRefusals,
    testing::Values(Refusal{"below an alias", "a: &x {b: 1}\nc: *x\n", "c.b=2", "RW-RECIPE-040", "'c' is an alias"},
                    Refusal{"below an anchor that is used", "a: &x {b: 1}\nc: *x\n", "a.b=2", "RW-RECIPE-040", "'c' would change with it"},
                    Refusal{"a value that is used", "a: &x 1\nc: *x\n", "a=2", "RW-RECIPE-040", "'c' would change with it"},
                    Refusal{"below what a merge brings", "x: &x {b: {c: 1, d: 2}}\na:\n  <<: *x\n", "a.b.c=2", "RW-RECIPE-040",
                            "'a.b.d' would change"},
                    Refusal{"below a value", "a: 1\n", "a.b=2", "RW-RECIPE-040", "'a' has a value"},
                    Refusal{"beyond a list", "a: [1]\n", "a.3=2", "RW-RECIPE-040", "has no '3'"},
                    Refusal{"an explicit key", "? a\n: 1\n", "a=2", "RW-RECIPE-040", "cannot be changed here"},
                    Refusal{"removing what is not there", "a: 1\n", "~b", "RW-RECIPE-041", "'b' is not written in this file"},
                    Refusal{"removing an anchor that is used", "a: &x 1\nb: *x\n", "~a", "RW-RECIPE-040", "'a' cannot be changed in the text alone"},
                    Refusal{"a text alone", "word\n", "a=1", "RW-RECIPE-040", "is no map"},
                    Refusal{"a file that does not parse", "a: [1\n", "a=1", "RW-RECIPE-002", "does not parse"}));

struct Family {
  TemporaryFolder folder;
  fs::path base, child;
  explicit Family(const std::string& base_text, const std::string& child_text)
      : base(folder.write("base.yaml", base_text)), child(folder.write("child.yaml", child_text)) {}
};

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(RecipeEdit, AParentsValueIsOverriddenInTheChild) {
  const std::string base_text = "policy:\n  dtensor_cfg: {context_parallel_size: 1, enabled: true}\n";
  const Family family(base_text, "defaults: base.yaml  # the parent\nsft: {seed: 1}\n");
  const EditedRecipe edited = edit_recipe(family.child, {parse_set("policy.dtensor_cfg.context_parallel_size=2"), parse_set("sft.seed=7")});
  EXPECT_EQ(edited.after, "defaults: base.yaml  # the parent\nsft: {seed: 7}\npolicy:\n  dtensor_cfg:\n    context_parallel_size: 2\n");
  EXPECT_EQ(read(family.child), edited.before) << "nothing is written before save()";
  save(edited);
  EXPECT_EQ(read(family.base), base_text);
  const Recipe recipe = load_recipe(family.child);
  EXPECT_EQ(recipe.resolved["policy"]["dtensor_cfg"], (nlohmann::ordered_json{{"context_parallel_size", 2}, {"enabled", true}}));
  EXPECT_EQ(recipe.resolved["sft"]["seed"], 7);
}

// Of edits at the same time, each from a process of its own, one that is told to be good is never lost.
TEST(RecipeEdit, OfTwoEditsAtOnceNoneIsLost) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    const Family family("a: 1\n", "defaults: base.yaml\nsft: {seed: 0, max_num_steps: 0}\n");
    const auto edit_in_child = [&](const char* change) {
      const pid_t child = ::fork();
      if (child != 0) return child;
      try {
        save(edit_recipe(family.child, {parse_set(change)}));
      } catch (const Error&) {
        ::_exit(1);
      }
      ::_exit(0);
    };
    const pid_t first = edit_in_child("sft.seed=7"), second = edit_in_child("sft.max_num_steps=7");
    int first_status = 0, second_status = 0;
    ASSERT_EQ(::waitpid(first, &first_status, 0), first);
    ASSERT_EQ(::waitpid(second, &second_status, 0), second);
    const Recipe recipe = load_recipe(family.child);
    if (WEXITSTATUS(first_status) == 0) {
      EXPECT_EQ(recipe.resolved["sft"]["seed"], 7);
    }
    if (WEXITSTATUS(second_status) == 0) {
      EXPECT_EQ(recipe.resolved["sft"]["max_num_steps"], 7);
    }
    EXPECT_TRUE(WEXITSTATUS(first_status) == 0 || WEXITSTATUS(second_status) == 0);
  }
}

TEST(RecipeEdit, WhatAParentSaysAlreadyNeedsNoChange) {
  const Family family("sft: {seed: 7}\n", "defaults: base.yaml\n");
  const EditedRecipe edited = edit_recipe(family.child, {parse_set("sft.seed=7")});
  EXPECT_EQ(edited.before, edited.after);
}

TEST(RecipeEdit, AnElementOfAParentsListIsChangedInACopyOfTheList) {
  const Family family("data:\n  train:\n  - {data_path: a, seed: 1}\n  - {data_path: b}\n", "defaults: base.yaml\n");
  const EditedRecipe edited = edit_recipe(family.child, {parse_set("data.train.1.data_path=c")});
  EXPECT_EQ(edited.after, "defaults: base.yaml\ndata:\n  train: [{data_path: a, seed: 1}, {data_path: c}]\n");
}

TEST(RecipeEdit, AParentsKeyCannotBeRemovedFromTheChild) {
  const Family family("sft: {seed: 7}\n", "defaults: base.yaml\n");
  const ErrorParts parts = error_of([&] { edit_recipe(family.child, {make_unset("sft.seed")}); });
  EXPECT_EQ(parts.code, "RW-RECIPE-041");
  EXPECT_THAT(parts.what, HasSubstr("comes from a parent"));
  EXPECT_THAT(parts.where, HasSubstr("base.yaml:1:13"));
}

TEST(RecipeEdit, RemovingTheChildsOwnKeyLetsTheParentsThrough) {
  const Family family("sft: {seed: 7, max_num_steps: 3}\n", "defaults: base.yaml\nsft:\n  seed: 8\n  max_num_steps: 4\n");
  EXPECT_EQ(edit_recipe(family.child, {make_unset("sft.seed")}).after, "defaults: base.yaml\nsft:\n  max_num_steps: 4\n");
}

TEST(RecipeEdit, AKeyWhoseChangeWouldChangeOthersIsRefused) {
  const Family family("policy: {model_name: m, precision: float32}\n", "defaults: base.yaml\npolicy: null\n");
  const ErrorParts parts = error_of([&] { edit_recipe(family.child, {parse_set("policy.precision=bfloat16")}); });
  EXPECT_EQ(parts.code, "RW-RECIPE-040");
  EXPECT_THAT(parts.what, HasSubstr("'policy.model_name' would change with it"));
  EXPECT_EQ(error_code([&] { edit_recipe(family.child, {parse_set("+policy._override_=true")}); }), "RW-RECIPE-040");
  for (const char* change : {"policy.precision=x${ \x7f\xff\xfe}*e", "policy.\xff=1"})
    EXPECT_EQ(error_code([&] { parse_set(change); }), "RW-RECIPE-012") << "bytes that are no text";
  EXPECT_EQ(error_code([&] { edit_recipe(family.child, {parse_set("defaults=other.yaml")}); }), "RW-RECIPE-040");
  EXPECT_EQ(error_code([&] {
              edit_recipe(family.child, {parse_set("policy.precision="
                                                   "???")});
            }),
            "RW-RECIPE-040");
}

// The parser takes such a text, and says other places than those where things stand.
TEST(RecipeEdit, ATextThatTheParserMisreadsIsRefused) {
  const std::string text = "a:\r\n- b: !\r'A    tex\"\r\n- #d !";
  EXPECT_TRUE(error_code([&] { edit_text(text, "recipe.yaml", make_unset(" .b")); }).starts_with("RW-RECIPE-"));
}

TEST(RecipeEdit, AMistypedKeyIsRefusedUnlessItIsMeant) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("r.yaml", "policy: {precision: float32, mine: {a: 1}}\n");
  const ErrorParts parts = error_of([&] { edit_recipe(file, {parse_set("policy.dtensor_cfg.context_paralel_size=2")}); });
  EXPECT_EQ(parts.code, "RW-RECIPE-013");
  EXPECT_THAT(parts.expected, HasSubstr("context_parallel_size"));
  EXPECT_EQ(edit_recipe(file, {parse_set("+policy.other=2")}).after, "policy: {precision: float32, mine: {a: 1}, other: 2}\n");
  EXPECT_EQ(edit_recipe(file, {parse_set("policy.mine.a=2")}).after, "policy: {precision: float32, mine: {a: 2}}\n") << "the recipe has it";
}

TEST(RecipeEdit, TheCopyInAnotherFolderNamesTheSameParents) {
  const Family family("sft: {seed: 7}\n", "defaults:\n- base.yaml  # here\nsft: {max_num_steps: 1}\n");
  const fs::path output = family.folder.write("deep/er/copy.yaml", "");
  const EditedRecipe edited = edit_recipe(family.child, {parse_set("sft.max_num_steps=2")}, output);
  EXPECT_EQ(edited.after, "defaults:\n- ../../base.yaml  # here\nsft: {max_num_steps: 2}\n");
  save(edited);
  EXPECT_EQ(load_recipe(output).resolved["sft"], (nlohmann::ordered_json{{"seed", 7}, {"max_num_steps", 2}}));
}

TEST(RecipeEdit, SavingKeepsModeAndLinkAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("r.yaml", "sft: {seed: 1}\n"), link = folder / "link.yaml";
  fs::create_symlink("r.yaml", link);
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  save(edit_recipe(link, {parse_set("sft.seed=2")}));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read(file), "sft: {seed: 2}\n");
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);
}

TEST(RecipeEdit, AFileThatCannotBeWrittenIsRefusedAndStays) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("r.yaml", "sft: {seed: 1}\n");
  EditedRecipe edited = edit_recipe(file, {parse_set("sft.seed=2")});
  edited.file = folder / "no/such/folder/r.yaml", edited.in_place = false;
  EXPECT_EQ(error_code([&] { save(edited); }), "RW-RECIPE-042");
  EXPECT_EQ(read(file), "sft: {seed: 1}\n");
}

TEST(RecipeEdit, WhatSomebodyElseWroteMeanwhileIsNotLost) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("r.yaml", "sft: {seed: 1}\n");
  const EditedRecipe edited = edit_recipe(file, {parse_set("sft.seed=2")});
  folder.write("r.yaml", "sft: {seed: 1}  # theirs\n");
  EXPECT_EQ(error_code([&] { save(edited); }), "RW-RECIPE-042");
  EXPECT_EQ(read(file), "sft: {seed: 1}  # theirs\n");
}

}  // namespace
}  // namespace ringwright::recipe

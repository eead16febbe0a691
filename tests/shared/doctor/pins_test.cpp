#include "shared/doctor/pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shared/doctor/made_up_environment.h"
#include "tests/support/error_of.h"

namespace ringwright::doctor {
namespace {

using support_matrix::Target;
using test::MadeUpEnvironment;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string first(const MadeUpEnvironment& made, Target target, std::vector<std::string> extras = {}) {
  const PythonEnvironment environment = read_python_environment(made.path());
  return first_broken_pin(compare_with_pins(environment, target, extras.empty() ? extras_of(environment) : extras));
}

const Observation* find(const std::vector<Observation>& observations, const std::string& name) {
  for (const Observation& each : observations)
    if (each.name == name) return &each;
  return nullptr;
}

// One environment that keeps each pin of the target, and one change that breaks each.
MadeUpEnvironment& fill_for_0_6(MadeUpEnvironment& made, const std::string& transformers = "5.12.1", const std::string& tilelang = "0.1.11",
                                const std::string& ffi = "0.1.11", const std::string& fsdp = "455389c4ffff") {
  made.add("transformers", transformers).add("tilelang", tilelang, "", "manylinux1_x86_64").add("apache-tvm-ffi", ffi);
  made.add("megatron-fsdp", "0.2", made.from_commit(fsdp)).add("nemo-automodel", "0.6.0", made.from_commit("89c248a1ffff"));
  made.folder().write(made.packages() + "z3/lib/libz3.so", "");
  return made;
}

TEST(Pins, AnEnvironmentThatKeepsThemIsGood) {
  MadeUpEnvironment good;
  fill_for_0_6(good);
  EXPECT_EQ(first(good, Target::automodel_0_6), "");
  EXPECT_THAT(extras_of(read_python_environment(good.path())), ElementsAre("automodel"));
}

TEST(Pins, TheFirstThatIsBrokenIsNamedWithWhatBreaks) {
  struct Row {
    const char *transformers, *tilelang, *ffi, *fsdp, *starts, *breaks;
  };
  const Row rows[] = {
      {"5.13.0", "0.1.11", "0.1.11", "455389c4", "transformers 5.13.0 breaks the pin >=5.5.0,<=5.12.1 (every environment)", "loading of models"},
      {"5.12.0", "0.1.9", "0.1.11", "455389c4", "transformers 5.12.0 breaks the pin ==5.12.1 (extra automodel)", "loading of models"},
      {"5.12.1", "0.1.9", "0.1.10", "455389c4", "tilelang 0.1.9 breaks the pin ==0.1.11", "deepseek_v4"},
      {"5.12.1", "0.1.11", "0.1.10", "455389c4", "apache-tvm-ffi 0.1.10 breaks the pin ==0.1.11", "TVM FFI"},
      {"5.12.1", "0.1.11", "0.1.11", "0badcafe", "megatron-fsdp 0.2 from commit 0badcafe, breaks the pin to commit 455389c4", "Megatron FSDP"},
  };
  for (const Row& row : rows) {
    MadeUpEnvironment made;
    fill_for_0_6(made, row.transformers, row.tilelang, row.ffi, row.fsdp);
    EXPECT_THAT(first(made, Target::automodel_0_6), StartsWith(row.starts));
    EXPECT_THAT(first(made, Target::automodel_0_6), HasSubstr(row.breaks));
  }
}

TEST(Pins, TheTargetsDiffer) {
  MadeUpEnvironment made;
  made.add("transformers", "5.8.0");
  EXPECT_EQ(first(made, Target::automodel_0_4), "") << "without Automodel only the wide pin holds";
  EXPECT_THAT(first(made, Target::automodel_0_4, {"automodel"}), StartsWith("transformers 5.8.0 breaks the pin >=5.5.0,<5.6.0"));
  EXPECT_EQ(first(made, Target::automodel_0_4, {"vllm"}), "") << "0.4 pins nothing more for vLLM";
  EXPECT_THAT(first(made, Target::automodel_0_6, {"vllm"}), StartsWith("transformers 5.8.0 breaks the pin ==5.12.1 (extra vllm)"));
  EXPECT_THAT(first(made, Target::automodel_0_6, {"sglang"}), StartsWith("transformers 5.8.0 breaks the pin ==5.6.0 (extra sglang)"));
  EXPECT_EQ(test::error_code([&] { first(made, Target::ringwright); }), "RW-DOCTOR-030");
}

TEST(Pins, AnotherAutomodelIsBadAndATagProvesNothing) {
  MadeUpEnvironment other, unknown;
  fill_for_0_6(other);
  EXPECT_THAT(first(other, Target::automodel_0_4),
              StartsWith("nemo-automodel 0.6.0 from 89c248a1, the commit of v0.6.0, breaks the pin to commit 24b47e85"));
  unknown.add("transformers", "5.5.1").add("apache-tvm-ffi", "0.1.9").add("nemo-automodel", "0.4.0");
  const PythonEnvironment environment = read_python_environment(unknown.path());
  const auto observations = compare_with_pins(environment, Target::automodel_0_4, extras_of(environment));
  EXPECT_EQ(find(observations, "nemo-automodel")->health, Health::note) << "a version number is no proof";
  EXPECT_EQ(first_broken_pin(observations), "");
}

TEST(Pins, WhatIsMissingIsSaid) {
  MadeUpEnvironment made;
  made.add("torch", "2.11.0");
  EXPECT_THAT(first(made, Target::automodel_0_6), StartsWith("transformers not installed"));
  made.add("transformers", "5.12.1");
  const auto observations = compare_with_pins(read_python_environment(made.path()), Target::automodel_0_6, {});
  EXPECT_EQ(find(observations, "megatron-fsdp")->health, Health::note);
  EXPECT_EQ(first_broken_pin(observations), "");
}

TEST(Pins, AnotherProcessorHasNoPinOfTileLang) {
  MadeUpEnvironment made;
  made.add("transformers", "5.12.1").add("apache-tvm-ffi", "0.1.11", "", "manylinux_2_28_aarch64");
  EXPECT_EQ(first(made, Target::automodel_0_6, {"automodel"}), "");
}

TEST(Pins, TileLangNeedsTheFolderOfZ3) {
  MadeUpEnvironment made;
  fill_for_0_6(made);
  const auto look = [&] { return *find(compare_with_pins(read_python_environment(made.path()), Target::automodel_0_6, {"automodel"}), "z3"); };
  const std::filesystem::path folder = made.path() / made.packages() / "z3/lib";
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(look().health, Health::note);
  EXPECT_THAT(look().commands, ElementsAre(HasSubstr(folder.string())));
  ::setenv("LD_LIBRARY_PATH", ("/nowhere:" + folder.string()).c_str(), 1);
  EXPECT_EQ(look().health, Health::good);
  ::unsetenv("LD_LIBRARY_PATH");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(look().health, Health::bad);
}

TEST(Pins, OldTransformersAreANoteForGemma4) {
  MadeUpEnvironment made;
  made.add("transformers", "5.11.0");
  const auto observations = compare_with_pins(read_python_environment(made.path()), Target::automodel_0_6, {});
  EXPECT_EQ(first_broken_pin(observations), "");
  EXPECT_THAT(observations.back().seen, HasSubstr("gemma4"));
  EXPECT_EQ(observations.back().health, Health::note);
}

TEST(Pins, FixesAreCommandsForTheEnvironmentsOwnPython) {
  MadeUpEnvironment made;
  made.add("transformers", "5.13.0");
  made.folder().write("bin/python", "");
  const auto observations = compare_with_pins(read_python_environment(made.path()), Target::automodel_0_6, {});
  EXPECT_THAT(observations.front().commands,
              ElementsAre("uv pip install --python " + (made.path() / "bin/python").string() + " 'transformers>=5.5.0,<=5.12.1'"));
}

TEST(Pins, DamagedVersionsAreBadNotSkipped) {
  MadeUpEnvironment made;
  made.add("transformers", "five");
  EXPECT_THAT(first(made, Target::automodel_0_6), HasSubstr("no version"));
}

TEST(Pins, EachExtraOfTheTableIsKnown) {
  for (const Pin& pin : pins()) {
    if (!pin.extra.empty()) {
      EXPECT_THAT(pinned_extras(), ::testing::Contains(std::string(pin.extra)));
    }
    EXPECT_THAT(std::string(pin.breaks), ::testing::Not(IsEmpty()));
  }
}

}  // namespace
}  // namespace ringwright::doctor

#include "shared/doctor/python_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/shared/doctor/made_up_environment.h"
#include "tests/support/error_of.h"

namespace ringwright::doctor {
namespace {

using test::MadeUpEnvironment;
using ::testing::ElementsAre;

TEST(PythonEnvironment, NamesAreOneHoweverTheyAreWritten) {
  for (const char* name : {"Apache_TVM.ffi", "apache-tvm-ffi", "apache--tvm_-ffi"}) EXPECT_EQ(normalized_name(name), "apache-tvm-ffi");
}

TEST(PythonEnvironment, IsReadFromItsMetadata) {
  MadeUpEnvironment made;
  made.add("Apache_TVM_ffi", "0.1.11", "", "manylinux_2_28_x86_64").add("megatron-fsdp", "0.2", made.from_commit("455389c4aa"));
  made.add("nemo-automodel", "0.6.0", R"({"url": "file:///src/Automodel", "dir_info": {"editable": true}})");
  made.folder().write(made.packages() + "old.egg-info/PKG-INFO", "Name: old\nVersion: 1.0\n");
  const PythonEnvironment environment = read_python_environment(made.path());
  EXPECT_EQ(environment.packages.size(), 4u);
  EXPECT_EQ(environment.find("apache-tvm-ffi")->version, "0.1.11");
  EXPECT_EQ(environment.find("megatron_fsdp")->commit, "455389c4aa");
  EXPECT_EQ(environment.find("nemo-automodel")->source, "/src/Automodel");
  EXPECT_EQ(environment.find("old")->version, "1.0");
  EXPECT_EQ(environment.find("transformers"), nullptr);
  EXPECT_EQ(environment.machine, "x86_64");
  EXPECT_EQ(read_python_environment(made.path() / made.packages()).packages.size(), 4u) << "the folder of packages itself";
}

TEST(PythonEnvironment, IsFoundByItsInterpreterToo) {
  MadeUpEnvironment made;
  made.add("transformers", "5.5.0");
  made.folder().write("bin/python", "");
  EXPECT_NE(read_python_environment(made.path() / "bin/python").find("transformers"), nullptr);
  std::filesystem::create_directory_symlink("lib", made.path() / "lib64");
  EXPECT_TRUE(read_python_environment(made.path()).twice.empty()) << "lib64 is lib";
}

TEST(PythonEnvironment, DamageIsSaid) {
  MadeUpEnvironment made;
  made.add("transformers", "5.5.0").add("transformers", "5.12.1");
  made.folder().write(made.packages() + "broken-1.0.dist-info/METADATA", "no headers");
  made.folder().write(made.packages() + "odd-1.0.dist-info/METADATA", "Name: odd\nVersion: 1.0\n");
  made.folder().write(made.packages() + "odd-1.0.dist-info/direct_url.json", "{ [1, 2");
  const PythonEnvironment environment = read_python_environment(made.path());
  EXPECT_THAT(environment.twice, ElementsAre("transformers"));
  EXPECT_THAT(environment.damaged, ElementsAre("broken-1.0.dist-info"));
  EXPECT_EQ(environment.find("odd")->commit, "");
}

TEST(PythonEnvironment, WhatIsNoneIsRefused) {
  MadeUpEnvironment empty, two;
  EXPECT_EQ(test::error_code([&] { read_python_environment(empty.path() / "gone"); }), "RW-DOCTOR-001");
  EXPECT_EQ(test::error_code([&] { read_python_environment(empty.path()); }), "RW-DOCTOR-002");
  two.add("transformers", "5.5.0");
  two.folder().write("lib/python3.11/site-packages/x-1.0.dist-info/METADATA", "Name: x\nVersion: 1.0\n");
  const ErrorParts parts = test::error_of([&] { read_python_environment(two.path()); });
  EXPECT_EQ(parts.code, "RW-DOCTOR-003");
  EXPECT_THAT(parts.what, ::testing::HasSubstr("python3.11, python3.12"));
}

}  // namespace
}  // namespace ringwright::doctor

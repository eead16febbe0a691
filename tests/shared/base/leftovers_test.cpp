// What killed processes leave behind, and what is only in use.
#include "shared/base/leftovers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "shared/base/files.h"
#include "tests/support/temporary_folder.h"

namespace ringwright::files {
namespace {

const auto kAll = [](const std::string&) { return true; };

class Claimed {
 public:
  explicit Claimed(const std::filesystem::path& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), claimed_(claim(descriptor_, path)) {}
  ~Claimed() { ::close(descriptor_); }
  Claimed(const Claimed&) = delete;
  Claimed& operator=(const Claimed&) = delete;
  bool claimed() const { return claimed_; }

 private:
  int descriptor_;
  bool claimed_;
};

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

pid_t process_that_is_gone() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(Leftovers, AreSweptAndWhatIsInUseIsNot) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "made-used" / "inside");
  std::filesystem::create_directories(folder / "made-left" / "inside");
  folder.write("made-file", "");
  folder.write("another", "");
  ::mkfifo((folder / "made-pipe").c_str(), 0600);
  {
    const Claimed used(folder / "made-used");
    EXPECT_TRUE(used.claimed());
    sweep(folder.path(), [](const std::string& name) { return name.starts_with("made-"); });
    EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"made-used", "made-pipe", "another"}));
  }
  sweep(folder.path(), kAll);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"made-pipe"})) << "a pipe is none of ours";
  sweep(folder / "nowhere", kAll);
}

TEST(Leftovers, WhatASweepHasTakenCannotBeClaimed) {
  const test::TemporaryFolder folder;
  folder.write("file", "");
  const int descriptor = ::open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC);
  sweep(folder.path(), kAll);
  EXPECT_FALSE(claim(descriptor, folder / "file"));
  folder.write("file", "of another");
  EXPECT_FALSE(claim(descriptor, folder / "file"));
  ::close(descriptor);
}

// Writers and sweeps of one file at once: each writing arrives.
TEST(Leftovers, ReplacementsSweepOnlyThoseOfTheDead) {
  const test::TemporaryFolder folder;
  const std::string of_the_dead = fmt::format(".file.{}-0", process_that_is_gone()), of_the_living = fmt::format(".file.{}-7", ::getppid());
  for (const std::string& name : {of_the_dead, of_the_living, std::string(".file.notes"), fmt::format(".other.{}-0", process_that_is_gone())})
    folder.write(name, "half");
  const std::set<std::string> before = names_in(folder.path());
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 50; ++i) replace(folder / "file", std::to_string(writer));
    });
  writers.clear();
  std::set<std::string> wanted = before;
  wanted.erase(of_the_dead);
  wanted.insert("file");
  EXPECT_EQ(names_in(folder.path()), wanted);
  EXPECT_EQ(read_all(folder / "file").size(), 1u);
}

}  // namespace
}  // namespace ringwright::files

// Other programs, run to their end.
#include "shared/base/program_call.h"

#include <gmock/gmock.h>

namespace ringwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

ProgramOutcome shell(const std::string& script, milliseconds limit = seconds(20)) { return call_program({{"sh", "-c", script}, limit}); }

TEST(ProgramCall, BothOutputsAndTheExitCode) {
  const ProgramOutcome outcome = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
  EXPECT_EQ(outcome.failure, "");
}

TEST(ProgramCall, MoreThanAPipeHoldsOnEitherSide) {
  const ProgramOutcome outcome = shell("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out.size(), 300'000u);
  EXPECT_EQ(outcome.err.size(), 300'000u);
}

TEST(ProgramCall, HasNoInputAndTheEnvironmentThatItIsGiven) {
  EXPECT_EQ(shell("cat").out, "");
  const ProgramOutcome outcome = call_program({{"/bin/sh", "-c", "echo $WORD"}, seconds(20), std::vector<std::string>{"WORD=given"}});
  EXPECT_EQ(outcome.out, "given\n");
}

TEST(ProgramCall, ASignalIsAnExitCodeAbove128) { EXPECT_EQ(shell("kill -TERM $$").exit_code, 128 + 15); }

TEST(ProgramCall, AProgramThatIsNotThereIsAFailureAndNoException) {
  const ProgramOutcome outcome = call_program({{"ringwright-no-such-program"}});
  EXPECT_EQ(outcome.exit_code, -1);
  EXPECT_THAT(outcome.failure, HasSubstr("did not start"));
}

TEST(ProgramCall, WhatTakesTooLongIsKilled) {
  const ProgramOutcome outcome = shell("echo begun; exec sleep 60", milliseconds(200));
  EXPECT_EQ(outcome.exit_code, -1);
  EXPECT_THAT(outcome.failure, HasSubstr("200 ms"));
  EXPECT_EQ(outcome.out, "begun\n");
}

TEST(ProgramCall, WhatPrintsWithoutEndIsKilled) {
  const ProgramOutcome outcome = call_program({{"cat", "/dev/zero"}, seconds(20), std::nullopt, 100'000});
  EXPECT_EQ(outcome.exit_code, -1);
  EXPECT_THAT(outcome.failure, HasSubstr("100000 bytes"));
}

}  // namespace
}  // namespace ringwright

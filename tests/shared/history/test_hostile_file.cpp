// What tests/fuzz/fuzz_history does, for a while, with numbers drawn by chance.
#include <gtest/gtest.h>

#include <random>

#include "tests/deep_tier.h"
#include "tests/shared/history/hostile_file.h"

namespace ringwright::history {
namespace {

using namespace testing;

TEST(HostileFile, IsReadOrRefusedWithOneError) {
  const std::string sound = sound_history_bytes();
  const TemporaryFolder folder("/dev/shm");
  int done = 0, refused = 0;
  for (uint64_t seed = 1; seed <= test::by_tier<uint64_t>(150, 5000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::string input(8 + random() % 200, '\0');
    for (char& byte : input) byte = static_cast<char>(random());
    write_hostile_file(folder.store(), sound, input);
    const Calls calls = read_everything(folder.store());
    EXPECT_GT(calls.done + calls.refused, 0);
    done += calls.done, refused += calls.refused;
  }
  EXPECT_GT(done, 0) << "no change of bytes left anything to read";
  EXPECT_GT(refused, 0) << "the changes do no harm";
}

TEST(HostileFile, TheSoundOneIsReadWhole) {
  const TemporaryFolder folder("/dev/shm");
  std::ofstream(folder.store(), std::ios::binary) << sound_history_bytes();
  const Calls calls = read_everything(folder.store());
  EXPECT_GT(calls.done, 15);
  EXPECT_EQ(calls.refused, 0);
}

}  // namespace
}  // namespace ringwright::history

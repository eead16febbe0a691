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
  for (uint64_t seed = 1; seed <= test::by_tier<uint64_t>(150, 5000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::string input(8 + random() % 200, '\0');
    for (char& byte : input) byte = static_cast<char>(random());
    write_hostile_file(folder.store(), sound, input);
    read_everything(folder.store());
  }
}

}  // namespace
}  // namespace ringwright::history

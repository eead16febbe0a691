// Any bytes as changes to a history file, of its rows or of its pages: every call of the reader ends well or in one Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/shared/history/hostile_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright::history::testing;
  static const std::string sound = sound_history_bytes();
  static const ringwright::test::TemporaryFolder folder("/dev/shm");
  write_hostile_file(folder / "history.db", sound, {reinterpret_cast<const char*>(data), size});
  read_everything(folder / "history.db");
  return 0;
}

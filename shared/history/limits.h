// How much of a run, and of the journal, is kept. What goes beyond is removed, oldest first, and counted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringwright::history {

struct Limits {
  int64_t logs_per_run_max = 100'000;
  int64_t spans_per_run_max = 1'000'000;
  int64_t samples_per_run_max = 20'000;
  int64_t events_per_run_max = 100'000;
  int64_t journal_events_max = 200'000;
  int64_t journal_bytes_max = 256 << 20;
  size_t log_text_bytes_max = 64 << 10;
  int retry_ms = 1000;          // between a failed commit and the next try
  int lock_wait_ms_max = 5000;  // for another program's lock on the file; then the commit counts as failed
};

}  // namespace ringwright::history

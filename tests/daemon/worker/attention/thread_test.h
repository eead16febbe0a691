// RANK_TEST with the ranks as threads of the test's own process.
#pragma once

#include <gtest/gtest.h>

#include "tests/daemon/worker/support/rank_threads.h"

#define THREAD_TEST(suite, name, world_size)                                                 \
  static void suite##_##name##_body(const ringwright::worker::ProcessGroups& ranks);         \
  TEST(suite, name) { ringwright::test::run_on_threads(world_size, suite##_##name##_body); } \
  static void suite##_##name##_body([[maybe_unused]] const ringwright::worker::ProcessGroups& ranks)

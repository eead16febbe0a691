#include "shared/base/failpoint.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "shared/base/error.h"

namespace ringwright::failpoints {
namespace {

std::string armed_name;
std::atomic<int> passes_left{0};

// A daemon that is started with a place that isn't there must not run as if nothing had been asked.
bool arm_from_environment() {
  const char* place = std::getenv("RINGWRIGHT_FAILPOINT");
  if (place == nullptr || *place == 0) return false;
  try {
    arm(place);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", describe(error.parts()).c_str());
    std::_Exit(static_cast<int>(ExitCode::usage));
  }
  return true;
}

}  // namespace

std::atomic<bool> armed{false};
[[maybe_unused]] const bool kArmedAtStart = arm_from_environment();

void arm(const std::string& place_and_count) {
  armed = false;
  if (place_and_count.empty()) return;
  const size_t colon = place_and_count.find(':');
  const std::string name = place_and_count.substr(0, colon);
  int count = 1;
  bool good = std::any_of(std::begin(kFailpoints), std::end(kFailpoints), [&](const char* known) { return name == known; });
  if (colon != std::string::npos) {
    const char* const end = place_and_count.data() + place_and_count.size();
    const auto [stop, failure] = std::from_chars(place_and_count.data() + colon + 1, end, count);
    good = good && failure == std::errc() && stop == end && count > 0;
  }
  if (!good)
    throw Error({"RW-BASE-010", "\"" + place_and_count + "\" is no failpoint", "RINGWRIGHT_FAILPOINT",
                 "a name of shared/base/failpoint.h, NAME:COUNT", "unset RINGWRIGHT_FAILPOINT", ExitCode::usage});
  armed_name = name;
  passes_left = count;
  armed = true;
}

void pass(const char* name) {
  if (armed_name == name && --passes_left == 0) std::raise(SIGKILL);
}

}  // namespace ringwright::failpoints

// What a call throws.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "shared/base/error.h"

namespace ringwright::test {

// The parts of the Error; empty ones when there is none.
template <class Call>
ErrorParts error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.parts();
  }
  return {};
}

// Its code; "none" when there is none.
template <class Call>
std::string error_code(Call&& call) {
  const ErrorParts parts = error_of(call);
  return parts.code.empty() ? "none" : parts.code;
}

// The same as error_of for a call that may only end well or in a refusal (exit code 3).
template <class Call>
ErrorParts refusal(Call&& call) {
  const ErrorParts parts = error_of(call);
  if (!parts.code.empty()) {
    EXPECT_EQ(parts.exit_code, ExitCode::refused) << parts.code;
  }
  return parts;
}

}  // namespace ringwright::test

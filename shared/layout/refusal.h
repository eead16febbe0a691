// Private to the folder: one line for one refusal.
#pragma once

#include <string>

#include "shared/base/error.h"

namespace ringwright::layout {

[[noreturn]] inline void refuse(std::string code, std::string what, std::string where, std::string expected, std::string action) {
  throw Error({std::move(code), std::move(what), std::move(where), std::move(expected), std::move(action), ExitCode::refused});
}

}  // namespace ringwright::layout

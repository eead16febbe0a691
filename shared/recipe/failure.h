// How the recipe library says what is wrong.
#pragma once

#include <string>

#include "shared/base/error.h"
#include "shared/recipe/node.h"

namespace ringwright::recipe {

[[noreturn]] inline void fail(std::string code, std::string what, const Origin& origin, std::string expected = "", std::string action = "") {
  throw Error({std::move(code), std::move(what), describe(origin), std::move(expected), std::move(action), ExitCode::usage});
}

}  // namespace ringwright::recipe

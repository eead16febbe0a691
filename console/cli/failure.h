// What a program says about an exception that nobody expected.
#pragma once

#include <exception>

#include "shared/base/error.h"

namespace ringwright::cli {

// The parts of an Error; for everything else what kind of failure it is, with a code and a way out: RW-CLI-031 no memory left, RW-CLI-032 the system
// refused something, RW-CLI-033 the rest. Exit code 1.
ErrorParts parts_of(const std::exception_ptr& failure);

}  // namespace ringwright::cli

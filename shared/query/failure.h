// The one form of a query's errors: they point at a column.
#pragma once

#include <string>

#include "shared/base/error.h"

namespace ringwright::query {

inline Error failure(const char* code, const std::string& what, size_t column, const std::string& expected, const std::string& action = "") {
  return Error({code, what, "column " + std::to_string(column) + " of the query", expected, action, ExitCode::usage});
}

inline constexpr const char* kSyntax = "RW-QUERY-001";
inline constexpr const char* kUnknownField = "RW-QUERY-002";
inline constexpr const char* kWrongValue = "RW-QUERY-003";
inline constexpr const char* kWrongPattern = "RW-QUERY-004";
inline constexpr const char* kTooLarge = "RW-QUERY-005";

}  // namespace ringwright::query

#include "shared/base/error.h"

namespace ringwright {

Error::Error(ErrorParts parts) : std::runtime_error(parts.what), parts_(std::move(parts)) {}

std::string describe(const ErrorParts& parts) {
  std::string text = "error";
  if (!parts.code.empty()) text += " " + parts.code;
  text += ": " + parts.what;
  if (!parts.where.empty()) text += "\n  at: " + parts.where;
  if (!parts.expected.empty()) text += "\n  expected: " + parts.expected;
  if (!parts.action.empty()) text += "\n  to fix: " + parts.action;
  return text;
}

}  // namespace ringwright

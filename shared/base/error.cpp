#include "shared/base/error.h"

#include <nlohmann/json.hpp>

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

nlohmann::json to_json(const ErrorParts& parts) {
  return {{"code", parts.code},         {"what", parts.what},     {"where", parts.where},
          {"expected", parts.expected}, {"action", parts.action}, {"exit_code", static_cast<int>(parts.exit_code)}};
}

ErrorParts error_parts_from_json(const nlohmann::json& json) {
  ErrorParts parts;
  parts.code = json.value("code", "");
  parts.what = json.value("what", "unknown error");
  parts.where = json.value("where", "");
  parts.expected = json.value("expected", "");
  parts.action = json.value("action", "");
  parts.exit_code = static_cast<ExitCode>(json.value("exit_code", 1));
  return parts;
}

}  // namespace ringwright

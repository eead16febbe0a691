#include <nlohmann/json.hpp>

#include "shared/base/error.h"

namespace ringwright {

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

#include "shared/history/metric_value.h"

#include <cmath>
#include <limits>

namespace ringwright::history {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Special {
  ValueKind kind;
  const char* text;
  double value;
};
constexpr Special kSpecials[] = {
    {ValueKind::nan, "NaN", kNan}, {ValueKind::positive_infinity, "Infinity", kInfinity}, {ValueKind::negative_infinity, "-Infinity", -kInfinity}};

}  // namespace

ValueKind kind_of(double value) {
  if (std::isfinite(value)) return ValueKind::finite;
  if (std::isnan(value)) return ValueKind::nan;
  return value > 0 ? ValueKind::positive_infinity : ValueKind::negative_infinity;
}

double value_of(ValueKind kind, double finite_value) {
  for (const Special& special : kSpecials)
    if (special.kind == kind) return special.value;
  return finite_value;
}

nlohmann::json metric_value_to_json(double value) {
  const ValueKind kind = kind_of(value);
  for (const Special& special : kSpecials)
    if (special.kind == kind) return special.text;
  return value;
}

double metric_value_from_json(const nlohmann::json& json) {
  if (json.is_null()) return kNan;
  if (json.is_string())
    for (const Special& special : kSpecials)
      if (json.get_ref<const std::string&>() == special.text) return special.value;
  return json.get<double>();
}

}  // namespace ringwright::history

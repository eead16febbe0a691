#include "console/gui/views/metric_text.h"

#include <fmt/format.h>

#include <cmath>

#include "console/gui/data/run_text.h"
#include "shared/base/text.h"

namespace ringwright::gui {

std::string metric_x_text(double x, XAxis axis) {
  switch (axis) {
    case XAxis::step:
      return fmt::format("step {}", text::format_count(std::llround(x)));
    case XAxis::tokens:
      return fmt::format("tokens {}", text::format_count(std::llround(x)));
    case XAxis::elapsed:
      return x > kClockFrom_s ? clock_text(static_cast<int64_t>(x * 1e9)) : text::format_elapsed(x);
    case XAxis::since_resume:
      return fmt::format("{} steps {} the resume", text::format_count(std::llabs(std::llround(x))), x < 0 ? "before" : "after");
  }
  return "";
}

}  // namespace ringwright::gui

#include "console/gui/services/context.h"

#include <imgui.h>

#include <algorithm>

namespace ringwright::gui {
namespace {
constexpr double kToastSeconds = 6;
constexpr size_t kToastsMax = 3;
}  // namespace

void Context::select(const std::string& run) {
  selection.run = run;
  const auto found = state.find(run);
  if (found && found->details == Loading::absent) {
    state.mark_reading(run);
    source.want_details(run);
  }
}

void Context::notify(Notice::Level level, std::string text, std::string action) {
  const double until = ImGui::GetTime() + kToastSeconds;
  for (Toast& toast : toasts) {
    if (toast.notice.text == text) {
      toast.until_s = until;
      return;
    }
  }
  toasts.push_back({{level, std::move(text), std::move(action)}, until});
  while (toasts.size() > kToastsMax) toasts.pop_front();
}

double Context::age_s(int64_t time_unix_ns) const { return std::max(0.0, static_cast<double>(source.now_unix_ns() - time_unix_ns) / 1e9); }

}  // namespace ringwright::gui

#include "console/gui/data/strip_zoom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/base/text.h"

namespace ringwright::gui {

void StripZoom::show_all(int64_t length) {
  length_ = std::max<int64_t>(1, length);
  first_ = 0;
  span_ = static_cast<double>(length_);
}

void StripZoom::move_to(double first) { first_ = std::clamp(first, 0.0, static_cast<double>(length_) - span_); }

void StripZoom::zoom(double factor, double at) {
  const double fixed = first_ + span_ * at;
  const double whole = static_cast<double>(length_);
  span_ = std::clamp(span_ * factor, static_cast<double>(std::min(kTokensShownMin, length_)), whole);
  move_to(fixed - span_ * at);
}

void StripZoom::pan(double share) { move_to(first_ + span_ * share); }

void StripZoom::center(double position) { move_to(position - span_ / 2); }

double StripZoom::share_of(int64_t position) const { return (static_cast<double>(position) - first_) / span_; }

int64_t StripZoom::position_at(double share) const {
  return std::clamp<int64_t>(static_cast<int64_t>(std::floor(first_ + span_ * share)), 0, length_ - 1);
}

int64_t StripZoom::first_shown() const { return position_at(0); }

int64_t StripZoom::end_shown() const { return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(first_ + span_)), 1, length_); }

std::string shown_text(const StripZoom& zoom) {
  return fmt::format("{}-{} of {}", text::format_count(zoom.first_shown()), text::format_count(zoom.end_shown() - 1),
                     text::format_count(zoom.length()));
}

}  // namespace ringwright::gui

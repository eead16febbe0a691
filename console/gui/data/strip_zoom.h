// The stretch of the global sequence that the strips of the Layout view show, from all of it to a few tokens. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace ringwright::gui {

inline constexpr int64_t kTokensShownMin = 4;  // cells wide enough for what stands in them

class StripZoom {
 public:
  // All of a sequence of so many positions (at least one).
  void show_all(int64_t length);
  void show_all() { show_all(length_); }
  // What is shown becomes `factor` times as long; `at`, a share of the width, stays where it is.
  void zoom(double factor, double at);
  // By a share of what is shown.
  void pan(double share);
  // Puts the position into the middle, as far as the ends allow.
  void center(double position);

  bool is_whole() const { return span_ >= static_cast<double>(length_); }
  int64_t length() const { return length_; }
  double span() const { return span_; }     // positions
  double first() const { return first_; }   // where the left edge is, between positions
  double share_of(int64_t position) const;  // of the width; outside of 0 to 1: not shown
  int64_t position_at(double share) const;  // the position under a share of the width
  int64_t first_shown() const;              // in part at least
  int64_t end_shown() const;                // behind the last one
  double pixels_of_token(double width) const { return width / span_; }

 private:
  void move_to(double first);

  int64_t length_ = 1;
  double first_ = 0, span_ = 1;
};

// "12,440-12,471 of 16,384".
std::string shown_text(const StripZoom& zoom);

}  // namespace ringwright::gui

// Which log lines are shown. Works through new lines only; a changed filter starts again, with the newest lines, which are looked at first.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "console/gui/data/state.h"
#include "console/gui/data/text_matcher.h"

namespace ringwright::gui {

inline constexpr const char* kLogLevels[] = {"debug", "info", "warn", "error"};
inline constexpr int kErrorLevel = 3;
// Index into kLogLevels; unknown levels count as info.
int level_index(std::string_view level);

class LogFilter {
 public:
  static constexpr size_t kBudgetLines = 20'000, kQuickBudgetLines = 60'000;  // quick: without a pattern, or with a plain one

  // A RE2 pattern, case ignored; a leading '!' excludes what matches. A wrong pattern is told by error(); the last good one stays in use.
  void set_pattern(const std::string& pattern);
  const std::string& error() const { return error_; }
  // Bit i: level kLogLevels[i] is shown.
  static constexpr unsigned kAllLevels = 0xF;
  void set_levels(unsigned mask);
  unsigned levels() const { return levels_; }
  // kAllRanks, -1 for the daemon's own lines, or a rank.
  static constexpr int kAllRanks = -2;
  void set_rank(int rank);
  int rank() const { return rank_; }

  // Positions in run.logs that pass, in order. Looks at no more than `budget_lines` lines a call: new ones first, then older ones backwards.
  const std::vector<size_t>& lines(const Run& run, size_t budget_lines);
  // As many as a frame has time for.
  const std::vector<size_t>& lines(const Run& run);
  // Older lines have not been looked at yet.
  bool is_looking() const { return looking_; }
  // Whether lines() has looked at all lines from this moment on, so that the first of them that passes is known.
  bool has_looked_from(const Run& run, int64_t time_unix_ns) const;

 private:
  bool passes(const history::LogLine& line) const;
  void restart();

  std::string pattern_, error_;
  std::unique_ptr<TextMatcher> matcher_;
  bool inverse_ = false;
  unsigned levels_ = kAllLevels;
  int rank_ = kAllRanks;
  std::string run_;
  uint64_t first_ = 0, end_ = 0;  // looked at are [first_, end_), absolute: lines dropped from the front count
  std::deque<uint64_t> passing_;  // absolute
  std::vector<size_t> positions_;
  bool changed_ = true, looking_ = false;
};

// Lines by their number from the run's first one, which stays theirs when the oldest are dropped.
inline uint64_t line_number(const Run& run, size_t position) { return run.log_lines_dropped + position; }

// Places in `shown`, which are positions in run.logs as LogFilter::lines() gives them. Nothing where there is none.
// The first line at or behind a moment, else the last one.
std::optional<size_t> place_of_moment(const Run& run, const std::vector<size_t>& shown, int64_t time_unix_ns);
// The next error behind (+1) or before (-1) the line of this number; nullopt: from the beginning or the end.
std::optional<size_t> place_of_error(const Run& run, const std::vector<size_t>& shown, std::optional<uint64_t> from_line, int direction);

}  // namespace ringwright::gui

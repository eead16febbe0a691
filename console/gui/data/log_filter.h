// Which log lines are shown. Works through new lines only; a changed filter starts again, with the newest lines, which are looked at first.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "console/gui/data/state.h"

namespace re2 {
class RE2;
}

namespace ringwright::gui {

inline constexpr const char* kLogLevels[] = {"debug", "info", "warn", "error"};
// Index into kLogLevels; unknown levels count as info.
int level_index(std::string_view level);

class LogFilter {
 public:
  static constexpr size_t kBudgetLines = 20'000;

  LogFilter();
  ~LogFilter();

  // A RE2 pattern, case ignored; a leading '!' excludes what matches. A wrong pattern is told by error(); the last good one stays in use.
  void set_pattern(const std::string& pattern);
  const std::string& error() const { return error_; }
  // Bit i: level kLogLevels[i] is shown.
  void set_levels(unsigned mask);
  unsigned levels() const { return levels_; }
  // kAllRanks, -1 for the daemon's own lines, or a rank.
  static constexpr int kAllRanks = -2;
  void set_rank(int rank);
  int rank() const { return rank_; }

  // Positions in run.logs that pass, in order. Looks at no more than `budget_lines` lines a call: new ones first, then older ones backwards.
  const std::vector<size_t>& lines(const Run& run, size_t budget_lines = kBudgetLines);
  // Older lines have not been looked at yet.
  bool is_looking() const { return looking_; }

 private:
  bool passes(const history::LogLine& line) const;
  void restart();

  std::string pattern_, error_;
  std::unique_ptr<re2::RE2> expression_;
  bool inverse_ = false;
  unsigned levels_ = 0xF;
  int rank_ = kAllRanks;
  std::string run_;
  uint64_t first_ = 0, end_ = 0;  // looked at are [first_, end_), absolute: lines dropped from the front count
  std::deque<uint64_t> passing_;  // absolute
  std::vector<size_t> positions_;
  bool changed_ = true, looking_ = false;
};

}  // namespace ringwright::gui

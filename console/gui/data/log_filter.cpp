#include "console/gui/data/log_filter.h"

#include <algorithm>

namespace ringwright::gui {

int level_index(std::string_view level) {
  for (int i = 0; i < 4; ++i) {
    if (level == kLogLevels[i]) return i;
  }
  return level == "warning" ? 2 : 1;
}

void LogFilter::restart() {
  first_ = end_ = 0;
  passing_.clear();
  changed_ = true;
}

void LogFilter::set_pattern(const std::string& pattern) {
  if (pattern == pattern_) return;
  pattern_ = pattern;
  const bool inverse = pattern.starts_with('!');
  const std::string body = inverse ? pattern.substr(1) : pattern;
  std::unique_ptr<TextMatcher> matcher = body.empty() ? nullptr : std::make_unique<TextMatcher>(body);
  if (matcher && !matcher->error().empty()) {
    error_ = matcher->error();
    return;
  }
  error_.clear();
  matcher_ = std::move(matcher);
  inverse_ = inverse;
  restart();
}

void LogFilter::set_levels(unsigned mask) {
  if (mask == levels_) return;
  levels_ = mask;
  restart();
}

void LogFilter::set_rank(int rank) {
  if (rank == rank_) return;
  rank_ = rank;
  restart();
}

bool LogFilter::passes(const history::LogLine& line) const {
  if (levels_ != kAllLevels && (levels_ >> level_index(line.level) & 1U) == 0) return false;
  if (rank_ != kAllRanks && line.rank != rank_) return false;
  return !matcher_ || matcher_->matches(line.text) != inverse_;
}

bool LogFilter::has_looked_from(const Run& run, int64_t time_unix_ns) const {
  if (!looking_) return true;
  if (end_ < run.log_lines_dropped + run.logs.size() || first_ >= end_) return false;
  return run.logs[static_cast<size_t>(first_ - run.log_lines_dropped)].time_unix_ns < time_unix_ns;
}

const std::vector<size_t>& LogFilter::lines(const Run& run) {
  return lines(run, !matcher_ || matcher_->is_plain() ? kQuickBudgetLines : kBudgetLines);
}

const std::vector<size_t>& LogFilter::lines(const Run& run, size_t budget_lines) {
  const uint64_t dropped = run.log_lines_dropped, end = dropped + run.logs.size();
  if (run.record.id != run_ || end_ > end || end_ < dropped) restart();
  run_ = run.record.id;
  if (end_ == 0) first_ = end_ = end;
  const size_t known = passing_.size();
  while (!passing_.empty() && passing_.front() < dropped) passing_.pop_front(), changed_ = true;
  first_ = std::max(first_, dropped);
  const auto passes_at = [&](uint64_t line) { return passes(run.logs[static_cast<size_t>(line - dropped)]); };
  for (; end_ < end && budget_lines > 0; --budget_lines, ++end_) {
    if (passes_at(end_)) passing_.push_back(end_);
  }
  for (; first_ > dropped && budget_lines > 0; --budget_lines) {
    if (passes_at(--first_)) passing_.push_front(first_);
  }
  looking_ = first_ > dropped || end_ < end;
  if (!changed_ && known == passing_.size()) return positions_;
  positions_.clear();
  for (const uint64_t line : passing_) positions_.push_back(static_cast<size_t>(line - dropped));
  changed_ = false;
  return positions_;
}

std::optional<size_t> place_of_moment(const Run& run, const std::vector<size_t>& shown, int64_t time_unix_ns) {
  if (shown.empty()) return std::nullopt;
  const auto found =
      std::lower_bound(shown.begin(), shown.end(), time_unix_ns, [&](size_t line, int64_t at) { return run.logs[line].time_unix_ns < at; });
  return static_cast<size_t>(std::min(found, std::prev(shown.end())) - shown.begin());
}

std::optional<size_t> place_of_error(const Run& run, const std::vector<size_t>& shown, std::optional<uint64_t> from_line, int direction) {
  const auto is_error = [&](size_t position) { return level_index(run.logs[position].level) == kErrorLevel; };
  const auto lies_before = [&](size_t position, uint64_t line) { return line_number(run, position) < line; };
  if (direction > 0) {
    const auto start = from_line ? std::lower_bound(shown.begin(), shown.end(), *from_line + 1, lies_before) : shown.begin();
    const auto found = std::find_if(start, shown.end(), is_error);
    return found == shown.end() ? std::nullopt : std::optional<size_t>(found - shown.begin());
  }
  const auto end = from_line ? std::lower_bound(shown.begin(), shown.end(), *from_line, lies_before) : shown.end();
  const auto found = std::find_if(std::make_reverse_iterator(end), shown.rend(), is_error);
  return found == shown.rend() ? std::nullopt : std::optional<size_t>(shown.rend() - found - 1);
}

}  // namespace ringwright::gui

#include "console/gui/data/log_filter.h"

#include <re2/re2.h>

#include <algorithm>

namespace ringwright::gui {

int level_index(std::string_view level) {
  for (int i = 0; i < 4; ++i) {
    if (level == kLogLevels[i]) return i;
  }
  return level == "warning" ? 2 : 1;
}

LogFilter::LogFilter() = default;
LogFilter::~LogFilter() = default;

void LogFilter::restart() {
  looked_at_ = 0;
  passing_.clear();
  changed_ = true;
}

void LogFilter::set_pattern(const std::string& pattern) {
  if (pattern == pattern_) return;
  pattern_ = pattern;
  const bool inverse = pattern.starts_with('!');
  const std::string body = inverse ? pattern.substr(1) : pattern;
  std::unique_ptr<re2::RE2> expression;
  if (!body.empty()) {
    re2::RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    expression = std::make_unique<re2::RE2>(body, options);
    if (!expression->ok()) {
      error_ = expression->error();
      return;
    }
  }
  error_.clear();
  expression_ = std::move(expression);
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
  if ((levels_ >> level_index(line.level) & 1U) == 0) return false;
  if (rank_ != kAllRanks && line.rank != rank_) return false;
  return !expression_ || re2::RE2::PartialMatch(line.text, *expression_) != inverse_;
}

const std::vector<size_t>& LogFilter::lines(const Run& run, size_t budget_lines) {
  const uint64_t dropped = run.log_lines_dropped, end = dropped + run.logs.size();
  if (run.record.id != run_ || looked_at_ > end) {
    run_ = run.record.id;
    restart();
  }
  const size_t known = positions_.size();
  const auto first_kept = std::lower_bound(passing_.begin(), passing_.end(), dropped);
  changed_ = changed_ || first_kept != passing_.begin();
  passing_.erase(passing_.begin(), first_kept);
  looked_at_ = std::max(looked_at_, dropped);
  const uint64_t until = std::min<uint64_t>(end, looked_at_ + budget_lines);
  for (; looked_at_ < until; ++looked_at_) {
    if (passes(run.logs[static_cast<size_t>(looked_at_ - dropped)])) passing_.push_back(looked_at_);
  }
  if (!changed_ && known == passing_.size()) return positions_;
  positions_.clear();
  for (const uint64_t line : passing_) positions_.push_back(static_cast<size_t>(line - dropped));
  changed_ = false;
  return positions_;
}

}  // namespace ringwright::gui

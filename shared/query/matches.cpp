#include "shared/query/matches.h"

#include <re2/re2.h>

namespace ringwright::query {
namespace {

constexpr int64_t kProgramBytesMax = 1 << 20;

RE2::Options options() {
  RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  options.set_max_mem(kProgramBytesMax);
  return options;
}

}  // namespace

struct Pattern::Impl {
  RE2 expression;
};

Pattern::Pattern(std::string_view pattern) : impl_(new Impl{RE2(re2::StringPiece(pattern.data(), pattern.size()), options())}) {}
Pattern::~Pattern() = default;
std::string Pattern::error() const { return impl_->expression.ok() ? "" : impl_->expression.error(); }
bool Pattern::matches(std::string_view text) const { return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), impl_->expression); }

}  // namespace ringwright::query

#include "shared/tokenizer/pattern.h"

#include <fmt/format.h>

#include <array>

#include "shared/base/error.h"

namespace ringwright::tokenizer {
namespace {

// Bounds on one search: a pattern that backtracks without end becomes an error.
constexpr uint32_t kMatchLimit = 10'000'000;
constexpr size_t kJitStackStart = 32 * 1024;
constexpr size_t kJitStackMax = 4 * 1024 * 1024;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR8, 256> buffer{};
  pcre2_get_error_message_8(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

}  // namespace

MatchState::MatchState()
    : data_(pcre2_match_data_create_8(1, nullptr), pcre2_match_data_free_8),
      context_(pcre2_match_context_create_8(nullptr), pcre2_match_context_free_8),
      stack_(pcre2_jit_stack_create_8(kJitStackStart, kJitStackMax, nullptr), pcre2_jit_stack_free_8) {
  pcre2_set_match_limit_8(context_.get(), kMatchLimit);
  pcre2_jit_stack_assign_8(context_.get(), nullptr, stack_.get());
}

Pattern::Pattern(const std::string& pattern, uint32_t options) {
  int code = 0;
  PCRE2_SIZE offset = 0;
  const std::shared_ptr<pcre2_compile_context_8> context(pcre2_compile_context_create_8(nullptr), pcre2_compile_context_free_8);
  pcre2_set_newline_8(context.get(), PCRE2_NEWLINE_LF);
  code_.reset(pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(), options, &code, &offset, context.get()),
              pcre2_code_free_8);
  if (!code_) {
    throw InvalidPattern(fmt::format("{} (byte {} of {})", message_of(code), offset, pattern.substr(0, 200)));
  }
  jit_ = pcre2_jit_compile_8(code_.get(), PCRE2_JIT_COMPLETE) == 0;
}

Pattern Pattern::regex(std::string_view pattern) { return Pattern(to_pcre2(pattern), PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C); }

Pattern Pattern::literal(std::string_view text) {
  if (text.empty()) throw UnsupportedPattern("an empty string to split at");
  return Pattern(std::string(text), PCRE2_UTF | PCRE2_LITERAL);
}

bool Pattern::find(std::string_view text, size_t from, MatchState& state, Match& match) const {
  const auto* subject = reinterpret_cast<PCRE2_SPTR8>(text.data());
  const int found = jit_ ? pcre2_jit_match_8(code_.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK, state.data_.get(), state.context_.get())
                         : pcre2_match_8(code_.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK, state.data_.get(), state.context_.get());
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found < 0) {
    throw Error({.code = "RW-TOK-005",
                 .what = fmt::format("the pattern gave up on a text of {} bytes: {}", text.size(), message_of(found)),
                 .where = "pre_tokenizer",
                 .expected = "a pattern that needs no endless backtracking",
                 .action = "split the text into shorter ones, or use a simpler pattern",
                 .exit_code = ExitCode::run_failed});
  }
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer_8(state.data_.get());
  match = {bounds[0], bounds[1]};
  return true;
}

}  // namespace ringwright::tokenizer

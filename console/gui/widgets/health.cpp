#include "console/gui/widgets/health.h"

#include <fmt/format.h>

#include <chrono>

#include "shared/base/text.h"
#include "shared/wire/control.h"

namespace ringwright::gui {

Health health_at(double age_s) {
  const std::chrono::duration<double> age(age_s);
  return age >= wire::kLostAfter ? Health::lost : age >= wire::kStaleAfter ? Health::stale : Health::live;
}

Token token_of(Health health) {
  static constexpr Token tokens[] = {Token::ok, Token::warn, Token::error, Token::neutral};
  return tokens[static_cast<size_t>(health)];
}

const Icon& icon_of(Health health) {
  static const Icon* const list[] = {&icons::check_circle, &icons::triangle, &icons::ring, &icons::minus_circle};
  return *list[static_cast<size_t>(health)];
}

std::string age_text(double age_s, Health health) {
  const std::string age = age_s < 10 ? fmt::format("{:.1f} s", age_s) : text::format_elapsed(age_s);
  return (health == Health::lost ? "lost " : "") + age;
}

Token age_ink(Health health) { return health == Health::lost ? Token::error : health == Health::stale ? Token::warn : Token::text2; }

}  // namespace ringwright::gui

// How the states of guards look, in the Guards view and in the editor's gutter.
#pragma once

#include "console/gui/recipe/guard_rows.h"
#include "console/gui/services/icons.h"
#include "console/gui/services/style.h"

namespace ringwright::gui {

struct GuardLook {
  const Icon* icon;
  Token token;
  const char* word;
};

inline const GuardLook& guard_look(GuardState state) {
  static const std::array<GuardLook, static_cast<size_t>(GuardState::count)> looks = {{{&icons::cross_circle, Token::error, "refused"},
                                                                                       {&icons::triangle, Token::warn, "warning"},
                                                                                       {&icons::question_circle, Token::info, "conditional"},
                                                                                       {&icons::plus_circle, Token::padded, "padded"},
                                                                                       {&icons::skip_circle, Token::neutral, "skipped"},
                                                                                       {&icons::check_circle, Token::ok, "ok"}}};
  return looks[static_cast<size_t>(state)];
}

}  // namespace ringwright::gui

// Short names for the tables of rows.
#pragma once

#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

inline constexpr Verdict kYes = Verdict::supported, kIf = Verdict::conditional, kNo = Verdict::refused, kPad = Verdict::padded,
                         kSkip = Verdict::skipped, kNone = Verdict::not_applicable;

}  // namespace ringwright::support_matrix

// The documentation's support matrix, printed from the rows.
#pragma once

#include <string>

namespace ringwright::support_matrix {

// SUPPORT.md, whole: the rows by level, the families under context parallelism, what moved between the two Automodel targets.
std::string matrix_markdown();

}  // namespace ringwright::support_matrix

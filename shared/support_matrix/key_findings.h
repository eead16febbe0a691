// Findings about single keys, from the table of what becomes of each key (shared/recipe/key_table.h): what no row of this folder has said already.
#pragma once

#include <vector>

#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

// Adds RW-GUARD-350 for a key that this engine will not act on, RW-GUARD-351 for one that it will. A key about which a finding stops this engine
// already is left out.
void add_key_findings(const recipe::Recipe& recipe, std::vector<Finding>& findings);
// The two rows as the documentation prints them.
std::vector<RowText> key_row_texts();

}  // namespace ringwright::support_matrix

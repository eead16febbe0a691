// A row's text with the facts' words put in.
#pragma once

#include <string>
#include <string_view>

#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {

// {name} stands for a word of the facts, or, with a dot in it, for the recipe's value at that key; {fault}, {fault_place} and {fault_way_out} for the
// parts of the row's fault. Throws std::out_of_range for a word that there is not.
std::string fill_in(std::string_view text, const Facts& facts, const ErrorParts& fault = {});

}  // namespace ringwright::support_matrix

// The words of the family rows, by the model's type and the attention that the recipe asks for.
#pragma once

#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {

void name_family_words(Facts& facts);

}  // namespace ringwright::support_matrix

// What a data file can give, without making tokens of all of it. The rows are those of daemon/worker/data/dataset.h.
#pragma once

#include <cstdint>
#include <filesystem>

#include "shared/recipe/recipe.h"

namespace ringwright::support_matrix {

// The most rows that the file can give, as far as `enough`: one a line that is not empty; of text that is joined and cut, one for each row_length
// tokens. mark_tokens: what the tokenizer and the end token add to a line at most. Throws std::system_error when the file cannot be read.
int64_t rows_at_most(const recipe::DataSource& source, const std::filesystem::path& file, int64_t row_length, int64_t mark_tokens, int64_t enough);

// Whether the first row holds chat messages. Throws as above.
bool holds_chat(const std::filesystem::path& file);

}  // namespace ringwright::support_matrix

// The box above the runs: words that are looked for in what a run is called, or a query in the one language of console and CLI.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console/gui/data/state.h"

namespace ringwright::gui {

// Only words: no comparison, no keyword of the query language. "!word" excludes.
bool is_word_search(std::string_view text);
// In characters from 1, of an error of the query language.
std::optional<size_t> error_column(const ErrorParts& error);

struct QueryField {
  std::string name;     // "mesh.cp"
  std::string type;     // "number"
  std::string meaning;  // one sentence, may be empty
};
// Everything that a query can ask for: the language's own fields, and the recipes' keys and metrics of the runs at hand.
std::vector<QueryField> query_fields(const State& state);
// Those that continue the word that the text ends with; at most `most`.
std::vector<QueryField> completions(const std::vector<QueryField>& fields, std::string_view text, size_t most);
// The text with its last word replaced.
std::string complete(std::string_view text, const QueryField& completion);

}  // namespace ringwright::gui

// The shape of a row. Adding one touches the rows_*.cpp that it belongs to, and two cases in tests/cases/guards: one in which it speaks and one in
// which it is silent. Whatever this engine can do is said once, in capabilities.h.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "shared/support_matrix/condition.h"
#include "shared/support_matrix/facts.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

// The column of this engine: what the capability table says, or one verdict that holds for every version of it. A row may not say `supported` of
// itself.
struct Ours {
  std::string_view capability;
  Verdict fixed = Verdict::not_yet;
};
constexpr Ours can(std::string_view capability) { return {capability, Verdict::not_yet}; }
constexpr Ours always(Verdict verdict) { return {"", verdict}; }

// What to set, key by key. {name} stands for a word of the facts, here and below.
struct RowChange {
  std::string_view key, value;
  bool removes = false;
};

// The way out of a row that stops a target: changes, or words where no change of the recipe alone will do.
struct Fix {
  Effect effect = Effect::safe;
  std::vector<RowChange> changes = {};
  std::string_view words = {};  // "": the changes, written as overrides
};
Fix set(std::string_view key, std::string_view value);           // what is trained stays the same
Fix set_training(std::string_view key, std::string_view value);  // changes what is trained: offered, never applied by itself
Fix remove(std::string_view key);
Fix words(std::string_view text);

using Verdicts = std::array<Verdict, kTargetNames.size()>;

struct Row {
  std::string_view code;
  std::string_view scope;
  Condition when;
  std::array<Verdict, 2> automodel;  // 0.4, 0.6
  Ours ours;
  std::string_view key, reason;
  Fix fix = {};
  // For rows whose verdicts depend on more than their condition; what stands above is then the printed matrix's.
  Verdicts (*decide)(const Facts&) = nullptr;
  // A fault that another part found: where there is one, the finding has its code.
  std::optional<ErrorParts> Facts::* fault = nullptr;
};

using Rows = std::vector<Row>;
// Level 1: the recipe alone.
const Rows& algorithm_rows();
const Rows& backend_rows();
const Rows& mesh_rows();
const Rows& context_parallel_rows();
const Rows& length_rows();
const Rows& distillation_rows();
const Rows& model_rows();
const Rows& rollout_rows();
const Rows& data_rows();
const Rows& saving_rows();
const Rows& migration_rows();
// Level 2: the files that it names.
const Rows& file_rows();
const Rows& family_rows();

// All of them, in the order of the matrix.
using Tables = std::vector<const Rows*>;
const Tables& recipe_tables();
const Tables& file_tables();

Verdicts verdicts_of(const Row& row, const Facts& facts);
// Those that the documentation prints.
Verdicts printed_verdicts(const Row& row);

}  // namespace ringwright::support_matrix

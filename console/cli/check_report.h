// What `ringwright check` prints of one recipe.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "shared/base/error.h"
#include "shared/recipe/recipe.h"
#include "shared/support_matrix/examination.h"
#include "shared/support_matrix/recipe_fix.h"

namespace ringwright::cli {

struct CheckReport {
  std::optional<ErrorParts> error;  // it cannot be looked at: of the rest there is the recipe's file alone
  recipe::Recipe recipe;
  std::vector<support_matrix::Target> targets;  // that were asked for
  support_matrix::Examination examination;
  bool wants_estimate = false;
  std::optional<support_matrix::RecipeFix> fix;  // with --fix
  std::string diff, written_to;                  // with --fix: the change as a unified diff, and the file that it is in; "": nothing was written

  bool refused() const;  // for one of the targets
};

void print_report(const CheckReport& report);
nlohmann::ordered_json to_json(const CheckReport& report);

}  // namespace ringwright::cli

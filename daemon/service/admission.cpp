#include "daemon/service/admission.h"

#include "shared/support_matrix/support_matrix.h"

namespace ringwright::service {

void admit(const LaunchRequest& request) {
  if (request.spec.talk.talks()) return;
  recipe::Recipe recipe;
  recipe.file = request.record.recipe_path;
  recipe.text = request.record.recipe_text;
  recipe.resolved = nlohmann::ordered_json(request.record.recipe);
  recipe.overrides = request.record.overrides;
  const std::vector<support_matrix::Finding> findings = support_matrix::check(recipe, {.look_at_files = false});
  if (support_matrix::refused(findings)) throw support_matrix::refusal(findings);
}

}  // namespace ringwright::service

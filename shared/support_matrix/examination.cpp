#include "shared/support_matrix/examination.h"

#include "shared/support_matrix/question.h"

namespace ringwright::support_matrix {

Examination examine(const recipe::Recipe& recipe, const CheckOptions& options) {
  Question question(recipe, options);
  Examination examination;
  examination.findings = question.findings();
  question.read_model();
  examination.model = question.facts().model;
  examination.plan = plan_of(question);
  try {
    examination.flow = flow_of(question, examination.plan);
    examination.estimate = estimate_of(question, examination.plan);
  } catch (const Error& error) {
    examination.flow.reset();
    examination.step_fault = error.parts();
  }
  return examination;
}

}  // namespace ringwright::support_matrix

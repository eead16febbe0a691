// Whether the teachers of a recipe go with its student.
#include <algorithm>
#include <string>

#include "shared/layout/layout.h"
#include "shared/recipe/parallelism.h"
#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {
namespace {

void look_at(const recipe::Typed& typed, const Facts& facts, const std::string& base, TeacherFacts& result) {
  const auto ranks = [&](const char* name) {
    return std::max<int64_t>(typed.integer(base + "dtensor_cfg." + name, 1, -recipe::kRanksMax, recipe::kRanksMax), 1);
  };
  const int64_t cp = ranks("context_parallel_size"), tp = ranks("tensor_parallel_size");
  const std::string length_key = base + "max_total_sequence_length", batch_key = base + "train_global_batch_size";
  const int64_t length = typed.integer(length_key, 0, 1, layout::kSequenceLengthMax);
  const int64_t batch = typed.integer(batch_key, 0, 1, recipe::kBatchRowsMax);
  if (result.first_length == 0) result.first_length = length;
  if (result.uneven_key.empty() && length % cp != 0) result.uneven_key = length_key, result.uneven_length = length, result.uneven_cp = cp;
  if (result.window_key.empty() && length % facts.cp != 0) result.window_key = length_key, result.window_length = length;
  if (result.batch_key.empty() && batch > 0 && facts.global_batch > 0 && batch != facts.global_batch)
    result.batch_key = batch_key, result.batch = batch;
  if (result.mesh_key.empty() && (cp * tp != facts.cp * facts.tp || facts.gpus_per_node % (cp * tp) != 0))
    result.mesh_key = base + "dtensor_cfg", result.cp_tp = cp * tp;
}

}  // namespace

TeacherFacts read_teachers(const recipe::Typed& typed, const Facts& facts) {
  TeacherFacts result;
  const nlohmann::json* teachers = facts.find("teachers");
  for (size_t i = 0; teachers && teachers->is_array() && i < teachers->size(); ++i)
    look_at(typed, facts, "teachers." + std::to_string(i) + ".", result);
  return result;
}

}  // namespace ringwright::support_matrix

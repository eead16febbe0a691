// Whether the teachers of a recipe go with its student.
#include <string>

#include "shared/support_matrix/facts.h"

namespace ringwright::support_matrix {
namespace {

int64_t whole(const Facts& facts, const std::string& key, int64_t fallback) {
  return static_cast<int64_t>(facts.number(key, static_cast<double>(fallback)));
}

void look_at(const Facts& facts, const std::string& base, TeacherFacts& result) {
  const int64_t cp = std::max<int64_t>(whole(facts, base + "dtensor_cfg.context_parallel_size", 1), 1);
  const int64_t tp = std::max<int64_t>(whole(facts, base + "dtensor_cfg.tensor_parallel_size", 1), 1);
  const std::string length_key = base + "max_total_sequence_length", batch_key = base + "train_global_batch_size";
  const int64_t length = whole(facts, length_key, 0), batch = whole(facts, batch_key, 0);
  if (result.uneven_key.empty() && length % cp != 0) result.uneven_key = length_key, result.uneven_length = length, result.uneven_cp = cp;
  if (result.window_key.empty() && length % facts.cp != 0) result.window_key = length_key, result.window_length = length;
  if (result.batch_key.empty() && batch > 0 && facts.global_batch > 0 && batch != facts.global_batch)
    result.batch_key = batch_key, result.batch = batch;
  if (result.mesh_key.empty() && (cp * tp != facts.cp * facts.tp || facts.gpus_per_node % (cp * tp) != 0))
    result.mesh_key = base + "dtensor_cfg", result.cp_tp = cp * tp;
}

}  // namespace

TeacherFacts read_teachers(const Facts& facts) {
  TeacherFacts result;
  const nlohmann::json* teachers = facts.find("teachers");
  for (size_t i = 0; teachers && teachers->is_array() && i < teachers->size(); ++i) look_at(facts, "teachers." + std::to_string(i) + ".", result);
  return result;
}

}  // namespace ringwright::support_matrix

// The shape of a row. Adding one touches rows_recipe.cpp or rows_files.cpp, and one case in tests/cases/guards.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "shared/support_matrix/facts.h"
#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

struct Row {
  std::string_view code;
  std::string_view scope;
  bool (*applies)(const Facts&);
  std::array<Verdict, 3> verdicts;  // automodel-0.4, automodel-0.6, ringwright
  // {name} stands for a word of the facts.
  std::string_view key, reason, fix;
};

const std::vector<Row>& recipe_rows();
const std::vector<Row>& file_rows();

}  // namespace ringwright::support_matrix

// The mesh of a recipe as the Mesh view edits it: each dimension with the values that would do, the others being held.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/gui/recipe/checked_recipe.h"
#include "shared/mesh/mesh.h"

namespace ringwright::gui {

struct MeshDimension {
  std::string axis;  // "cp", as in mesh::valid_values
  std::string key;   // of the recipe; "" where no key says it
  int value = 1;
  std::vector<int> valid;  // ascending
  std::string note;        // "inferred: 16 / (cp x tp)", "32 heads, 8 kv"

  bool is_valid() const;
  // The next valid value above or below; the value itself when there is none.
  int next(int by) const;
};

struct MeshPlan {
  int nodes = 1, ranks_per_node = 1;
  std::vector<MeshDimension> dimensions;  // pp, dp, cp, tp, ep
  std::optional<mesh::Mesh> mesh;         // nullopt: the sizes make none
  std::optional<ErrorParts> fault;        // why

  int world() const { return nodes * ranks_per_node; }
  int value(std::string_view axis) const;
};

// Throws Error for values of the wrong kind.
MeshPlan plan_mesh(const CheckedRecipe& checked);

// The keys to set so that `axis` has this value. With `hold_data` the number of data ranks stays and the world changes instead.
std::vector<support_matrix::Change> mesh_changes(const MeshPlan& plan, const MeshDimension& dimension, int value, bool hold_data);

// A mesh that passes all guards of this engine, with its price.
struct MeshSuggestion {
  int cp = 1, tp = 1;
  Price price;
};
// At most three for the same ranks and batch, the cheapest in memory first, then the evenest. Reads what check_recipe reads.
std::vector<MeshSuggestion> suggest_meshes(const CheckQuestion& question, const MeshPlan& plan);

}  // namespace ringwright::gui

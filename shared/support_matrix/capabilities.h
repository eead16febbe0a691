// What this engine can do: the column `ringwright` of the support matrix. A capability is entered together with the test that proves it; what is not
// here is `not yet`.
#pragma once

#include <string_view>
#include <vector>

#include "shared/support_matrix/support_matrix.h"

namespace ringwright::support_matrix {

struct Capability {
  std::string_view name;
  Verdict verdict;         // supported, padded, or conditional where the row names the condition
  std::string_view proof;  // "file:Suite.Test", "file.yaml:name of a case" or "folder:golden", from the repository's root
};

const std::vector<Capability>& capabilities();
// Verdict::not_yet where the table has no such name.
Verdict capability(std::string_view name);

}  // namespace ringwright::support_matrix

// `ringwright explain flow`.
#pragma once

#include <string>
#include <vector>

#include "console/cli/verb.h"

namespace ringwright::cli {

// `model`: a folder in place of what policy.model_name stands for, or "".
int explain_flow(const std::vector<std::string>& words, const std::string& model, const Invocation& invocation);

}  // namespace ringwright::cli

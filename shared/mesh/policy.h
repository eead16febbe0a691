// Options of the policies that stand beside a mesh: what a strategy, a pipeline or expert layers may be told. Names and defaults: Automodel's.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "shared/mesh/mesh.h"

namespace ringwright::mesh {

// Every option of a policy by its name; what was not given has its default.
using Options = nlohmann::json;

enum class PolicyKind { fsdp2, megatron_fsdp, ddp, pipeline, experts };
PolicyKind kind_of(Strategy strategy);

// Says where an option was written; without it the option's dotted name stands for itself.
using PlaceOf = std::function<std::string(const std::string& key)>;

// `given` (a map, or null for none) over the defaults, with types in their one spelling ("torch.bfloat16" and "bf16" become "bfloat16"). A null means
// the default; so does one for mp_policy, which is bfloat16 parameters with float32 reduction, not none. `section` is put before an option's name in
// errors. Throws Error, exit code 3: RW-SETUP-001 a value of the wrong kind, RW-SETUP-002 (misuse) an option that the policy does not have.
Options complete_options(PolicyKind kind, const Options& given, const std::string& section = "", const PlaceOf& place = {});

// The type in which a strategy's activations leave a layer: mp_policy's output type, else its parameter type; "" for a strategy without mp_policy.
std::string activation_dtype(const Options& strategy_options);

}  // namespace ringwright::mesh

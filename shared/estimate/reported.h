// An estimate as a worker reports it when its run starts, in the event `run.estimate`.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "shared/estimate/estimate.h"

namespace ringwright::estimate {

// {"terms": {"parameters": bytes, ...}, "memory_bytes", "checkpoint_bytes"}
nlohmann::json report(const Estimate& estimate);
// The same back, terms in their order and without formulas. nullopt: it is none, as something is missing or no whole number from 0 on.
std::optional<Estimate> estimate_in(const nlohmann::json& reported);

}  // namespace ringwright::estimate

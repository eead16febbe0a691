// Two fingerprints beside each other: what differs, and what that can do to a run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ringwright::fingerprint {

enum class Weight {
  none,      // a name or a place: changes nothing
  may,       // speed, or room
  decisive,  // other numbers, or another training
};

struct Difference {
  std::string path;     // "libraries.libtorch", "inputs.train.xxh3"; of one rank alone: "rank 1: cpu.model"
  nlohmann::json a, b;  // null: the fingerprint does not say
  Weight weight = Weight::may;
  std::string effect;
};

// As runs keep it (what the daemon says, and below `workers` what each rank says) or as node_fingerprint() returns it. Rank 0 speaks for the run; of
// another rank what it says otherwise. Where only one of the two says anything of a kind of thing (inputs, say), nothing is compared there.
// By weight, the decisive ones first, then by path.
std::vector<Difference> compare(const nlohmann::json& a, const nlohmann::json& b);

}  // namespace ringwright::fingerprint

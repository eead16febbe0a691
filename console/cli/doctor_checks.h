// What `ringwright doctor` looks at: a table of checks, each with what it saw and, where something is in the way, the fix.
#pragma once

#include <string>
#include <vector>

namespace ringwright::cli {

enum class Health {
  good,
  note,  // something works less well, or not at all, and may not be needed
  bad,   // runs will fail
};

struct Observation {
  std::string name;
  Health health = Health::good;
  std::string seen;
  std::string fix;  // "" when good
};

// In the order of the table. Never throws; a check that cannot look says so.
std::vector<Observation> examine();

}  // namespace ringwright::cli

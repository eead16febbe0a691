// What `ringwright doctor` saw of one thing.
#pragma once

#include <string>
#include <vector>

namespace ringwright::doctor {

enum class Health {
  good,
  note,  // something works less well, or not at all, and may not be needed
  bad,   // runs will fail, or another program runs than the one that was meant
};

struct Observation {
  std::string name;
  Health health = Health::good;
  std::string seen;
  std::string fix = {};                    // in words; "" when good
  std::vector<std::string> commands = {};  // the fix as shell lines, where it is a matter of commands; nothing runs them
};

}  // namespace ringwright::doctor

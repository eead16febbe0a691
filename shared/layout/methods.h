// The methods that spread attention over the CP group, described once: what moves, and which heads each can take. Tables elsewhere say what a method
// costs (traffic.h, method_cost.h) and how it is done (daemon/worker/context_parallel); they name methods from here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/layout/head_split.h"
#include "shared/layout/names.h"

namespace ringwright::layout {

struct MethodEntry {
  std::string_view name;
  std::string_view about;  // one line for people
  // Why the heads cannot be dealt over cp ranks; "" where they can. nullptr: it takes any heads.
  std::string (*head_refusal)(const HeadCounts& heads, int cp);
};

// In the order of preference: of two that cost the same the first is taken.
const std::vector<MethodEntry>& methods();
const std::vector<std::string>& method_names();
// "": the method takes these heads, or there is one rank; else why not, with the numbers. A name that is none of methods() takes everything.
std::string method_head_refusal(std::string_view name, const HeadCounts& heads, int cp);

// NeMo RL's name of a rotation (policy.dtensor_cfg.cp_rotate_method) and the method that does it here: its alltoall is a ring shift.
struct Rotation {
  std::string_view name;
  std::string_view method;
};
const std::vector<Rotation>& rotations();
std::vector<std::string> rotation_names();
// "" for a name that is none of them.
std::string_view method_of_rotation(std::string_view name);

}  // namespace ringwright::layout

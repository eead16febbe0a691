#include "console/cli/activity_option.h"

#include <fmt/ranges.h>

#include <vector>

namespace ringwright::cli {

void ActivityOption::add_to(Command& command) {
  std::vector<std::string> names;
  for (const history::Activity& activity : history::kActivities) names.emplace_back(activity.name);
  command.add_option("--of", of, fmt::format("only of {} (default: all)", fmt::join(names, ", "))).check(one_of(names)).type_name("ACTIVITY");
  command.add_option("--step", step, "this step, or the nearest before it that has any (default: the newest)").check(whole_number(0)).type_name("N");
}

}  // namespace ringwright::cli

// ringwright set RUN KEY=VALUE: another learning rate for a run that is going on, and the like.
#include <fmt/format.h>

#include "console/cli/steering.h"
#include "console/cli/verb.h"
#include "shared/wire/steering.h"

namespace ringwright::cli {
namespace {

struct Options {
  std::shared_ptr<std::string> run;
  std::string assignment;
};

int set(const Options& options, const Invocation& invocation) {
  const wire::Setting setting = wire::parse_setting(options.assignment);
  const nlohmann::json arguments = {{"key", wire::settable_keys()[setting.key].name}, {"value", setting.value}};
  return steer(*options.run, {"set", "run.set", arguments, fmt::format("takes {} from its next step on", wire::describe(setting))}, invocation);
}

std::string list_of_keys() {
  std::string text = "What can be set:\n";
  for (const wire::SettableKey& key : wire::settable_keys()) text += fmt::format("  {:<26} {}\n", key.name, key.what);
  return text;
}

void build(Command& command, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  options->run = add_run_argument(command);
  command.add_option("assignment", options->assignment, "optimizer.lr=2e-4").required().type_name("KEY=VALUE");
  command.footer(list_of_keys());
  set_action(command, invocation, [options, &invocation] { return set(*options, invocation); });
}

const VerbEntry kEntry({Group::runs, "set", "Change what may change while a run is going on, such as its learning rate", build});

}  // namespace
}  // namespace ringwright::cli

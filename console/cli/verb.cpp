#include "console/cli/verb.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <tuple>

namespace ringwright::cli {
namespace {

std::vector<Verb>& table() {
  static std::vector<Verb> verbs;
  return verbs;
}

CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? std::string("an empty text was given") : std::string(); }, "");
}

bool takes_whole_numbers(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.starts_with("INT") || type.starts_with("UINT");
}

}  // namespace

VerbEntry::VerbEntry(Verb verb) { table().push_back(std::move(verb)); }

std::vector<Verb> verbs() {
  std::vector<Verb> sorted = table();
  std::sort(sorted.begin(), sorted.end(), [](const Verb& a, const Verb& b) { return std::tie(a.group, a.name) < std::tie(b.group, b.name); });
  return sorted;
}

void set_action(Command& command, Invocation& invocation, std::function<int()> action) {
  command.add_flag("--json", invocation.json, "print JSON instead of text");
  command.app().callback([&invocation, action = std::move(action)] { invocation.action = action; });
}

Command add_subverb(Command& command, const std::string& name, const std::string& help) {
  command.app().require_subcommand(1);
  return Command(*command.app().add_subcommand(name, help));
}

void check_values(Command& command) {
  for (CLI::Option* option : command.app().get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    if (takes_whole_numbers(*option))
      option->transform(whole_number(option->get_type_name().starts_with('U') ? 0 : INT64_MIN).validator());  // check() would not change it
    option->check(not_empty());
  }
  for (CLI::App* app : command.app().get_subcommands([](CLI::App*) { return true; })) {
    Command verb(*app);
    check_values(verb);
  }
}

}  // namespace ringwright::cli

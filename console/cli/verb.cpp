#include "console/cli/verb.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ringwright::cli {
namespace {

std::vector<Verb>& table() {
  static std::vector<Verb> verbs;
  return verbs;
}

}  // namespace

VerbEntry::VerbEntry(Verb verb) { table().push_back(std::move(verb)); }

std::vector<Verb> verbs() {
  std::vector<Verb> sorted = table();
  std::sort(sorted.begin(), sorted.end(), [](const Verb& a, const Verb& b) { return std::tie(a.group, a.name) < std::tie(b.group, b.name); });
  return sorted;
}

void set_action(CLI::App& command, Invocation& invocation, std::function<int()> action) {
  command.add_flag("--json", invocation.json, "print JSON instead of text");
  command.callback([&invocation, action = std::move(action)] { invocation.action = action; });
}

CLI::App& add_subverb(CLI::App& command, const std::string& name, const std::string& help) {
  command.require_subcommand(1);
  return *command.add_subcommand(name, help);
}

CLI::Validator from_zero_on() {
  return CLI::Validator(
      [](std::string& text) {
        double value = -1;
        const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
        return good ? std::string() : "'" + text + "' is not a number from 0 on";
      },
      "NONNEGATIVE");
}

}  // namespace ringwright::cli

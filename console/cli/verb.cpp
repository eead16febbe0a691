#include "console/cli/verb.h"

#include <algorithm>
#include <charconv>
#include <cmath>
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

void set_action(CLI::App& command, Invocation& invocation, std::function<int()> action) {
  command.add_flag("--json", invocation.json, "print JSON instead of text");
  command.callback([&invocation, action = std::move(action)] { invocation.action = action; });
}

CLI::App& add_subverb(CLI::App& command, const std::string& name, const std::string& help) {
  command.require_subcommand(1);
  return *command.add_subcommand(name, help);
}

void check_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    if (takes_whole_numbers(*option))
      option->transform(whole_number(option->get_type_name().starts_with('U') ? 0 : INT64_MIN));  // check() would not change it
    option->check(not_empty());
  }
  for (CLI::App* verb : command.get_subcommands([](CLI::App*) { return true; })) check_values(*verb);
}

CLI::Validator whole_number(int64_t first, int64_t last) {
  return CLI::Validator(
      [first, last](std::string& text) {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc() && end == text.data() + text.size();
        if (whole && value >= first && value <= last) {
          text = std::to_string(value);  // no leading zeros, which would make it octal
          return std::string();
        }
        if (first == INT64_MIN) return "'" + text + "' is not a whole number of at most 64 bits";
        return "'" + text + "' is not a whole number from " + std::to_string(first) + (last == INT64_MAX ? " on" : " to " + std::to_string(last));
      },
      "");
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

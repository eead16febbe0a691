// `ringwright`: finds the verb, runs it, turns what went wrong into one message and an exit code.
#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "console/cli/failure.h"
#include "console/cli/terminal.h"
#include "console/cli/verb.h"
#include "shared/base/error.h"
#include "shared/base/text.h"

namespace ringwright::cli {
namespace {

constexpr std::array<const char*, 3> kGroupTitles = {"Runs", "Recipes", "Service"};

void report(const ErrorParts& given, bool json) {
  const ErrorParts parts = shortened(given);
  if (json) {
    std::fprintf(stderr, "%s\n", nlohmann::json{{"error", to_json(parts)}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return;
  }
  std::string text = describe(parts);
  constexpr std::string_view kLead = "error";
  if (colour_on(stderr) && text.starts_with(kLead)) text.replace(0, kLead.size(), "\x1b[1;31merror\x1b[0m");
  std::fprintf(stderr, "%s\n", text.c_str());
}

// A parse that fails may not have reached the flag, so the arguments themselves are looked at.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return false;
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::string command_line(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent ? command_line(*parent) + " " + app.get_name() : app.get_name();
}

// CLI11 says of a misspelt verb only that one is required.
std::string unknown_verb(const CLI::App& app) {
  if (app.get_require_subcommand_min() == 0 || !app.get_subcommands().empty()) return "";
  for (const std::string& word : app.remaining())
    if (!word.starts_with('-')) return word;
  return "";
}

ErrorParts usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::string command = command_line(app), word = unknown_verb(app);
  if (word.empty()) return {"RW-CLI-001", error.what(), command, "", "see " + command + " --help", ExitCode::usage};
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(verb->get_name());
  const std::string nearest = text::nearest(word, names);
  return {"RW-CLI-001",
          command + " has no '" + word + "'",
          command,
          nearest.empty() ? "" : "did you mean '" + nearest + "'?",
          "see " + command + " --help",
          ExitCode::usage};
}

// CLI11's own exceptions: help and version texts are no errors, everything else is a usage error.
int end_of_parse(const CLI::App& app, const CLI::ParseError& error, bool json) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    app.exit(error);
    return static_cast<int>(ExitCode::good);
  }
  report(usage_error(innermost(app), error), json);
  return static_cast<int>(ExitCode::usage);
}

void add_verbs(CLI::App& app, Invocation& invocation) {
  for (const Verb& verb : verbs()) {
    Command command(*app.add_subcommand(verb.name, verb.help));
    command.app().group(kGroupTitles[static_cast<size_t>(verb.group)]);
    verb.build(command, invocation);
    check_values(command);
  }
}

int run(int argc, char** argv) {
  const bool json = asks_for_json(argc, argv);
  CLI::App app("Ringwright: run, watch and find again context-parallel training runs.", "ringwright");
  app.set_version_flag("--version", "ringwright " RINGWRIGHT_VERSION);
  app.set_help_flag("-h,--help", "print this text");
  app.footer(
      "\nExit codes: 0 good, 1 the run failed or a comparison went beyond its tolerance, 2 usage or a recipe that does not parse,\n"
      "3 refused by a guard, 4 daemon not reached, 5 version mismatch, 6 history file, 128+n ended by signal n.");
  Invocation invocation;
  add_verbs(app, invocation);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return static_cast<int>(ExitCode::usage);
  }
  app.require_subcommand(1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_of_parse(app, error, json);
  }
  const int code = invocation.action();
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && code == 0)
    throw Error({"RW-CLI-011", "the output cannot be written in full", "stdout", "a place with room", "make room, or write to another place"});
  return code;
}

}  // namespace
}  // namespace ringwright::cli

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on files is told like a full disk
  try {
    return ringwright::cli::run(argc, argv);
  } catch (...) {
    const ringwright::ErrorParts parts = ringwright::cli::parts_of(std::current_exception());
    ringwright::cli::report(parts, ringwright::cli::asks_for_json(argc, argv));
    return static_cast<int>(parts.exit_code);
  }
}

// The table of verbs. A verb is one file, verb_<name>.cpp, that holds its options, its action and one entry:
//
//   namespace {
//   struct Options { std::string run; };
//   int stop(const Options& options, const Invocation& invocation) { ...; return 0; }
//   void build(Command& command, Invocation& invocation) {
//     auto options = std::make_shared<Options>();
//     command.add_option("run", options->run, "the run's id, name, or last").required();
//     set_action(command, invocation, [options, &invocation] { return stop(*options, invocation); });
//   }
//   const VerbEntry kEntry({Group::runs, "stop", "Stop a run", build});
//   }  // namespace
//
// An action returns the exit code; it reports what is wrong by throwing ringwright::Error, which main prints.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "console/cli/command.h"

namespace ringwright::cli {

// One call of the program. It outlives parsing and the action.
struct Invocation {
  bool json = false;            // --json was given: print JSON only
  std::function<int()> action;  // what the chosen verb does
};

// Headings in --help, in this order.
enum class Group { runs, recipes, service };

struct Verb {
  Group group;
  std::string name;
  std::string help;  // one line
  // Adds options and sets the action, or adds sub-verbs with add_subverb.
  void (*build)(Command& command, Invocation& invocation);
};

// A constant of this type, in the verb's file, is all that a verb needs to be known.
struct VerbEntry {
  explicit VerbEntry(Verb verb);
};

// All verbs, by group, then name.
std::vector<Verb> verbs();

// Says what the command does when it is the one that was called, and gives it --json.
void set_action(Command& command, Invocation& invocation, std::function<int()> action);
// `ringwright VERB NAME`: a sub-verb with options of its own. Call set_action for it.
Command add_subverb(Command& command, const std::string& name, const std::string& help);
// Once a verb is built: makes all options, also of its sub-verbs, refuse an empty text, and those with whole numbers what is none or does not fit
// into 64 bits.
void check_values(Command& command);

}  // namespace ringwright::cli

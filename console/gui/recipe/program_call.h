// Another program, run to its end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace ringwright::gui {

struct ProgramOutcome {
  int exit_code = -1;  // -1: it did not start, was ended by a signal, or took too long
  std::string out, err;
};

// `words`: the program's file (or its name in PATH) and its arguments. It has no input, and is killed behind `limit`.
ProgramOutcome call_program(const std::vector<std::string>& words, std::chrono::milliseconds limit);
// The program of this name beside this one, else its name.
std::string beside_this_program(const std::string& name);

}  // namespace ringwright::gui

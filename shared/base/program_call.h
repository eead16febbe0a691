// Another program, run to its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ringwright {

struct ProgramCall {
  std::vector<std::string> words;  // the program's file, or its name in PATH, and its arguments
  std::chrono::milliseconds limit{20'000};
  std::optional<std::vector<std::string>> environment = std::nullopt;  // "NAME=value"; nullopt: this program's own
  size_t output_bytes_max = size_t{16} << 20;                          // of each of its two outputs
};

struct ProgramOutcome {
  int exit_code = -1;   // 128 + n: ended by signal n; -1: see failure
  std::string failure;  // why it did not start, or was killed: it took too long, or printed too much; "" when it ended by itself
  std::string out, err;
};

// It has no input. Throws nothing: what goes wrong is the outcome's failure.
ProgramOutcome call_program(const ProgramCall& call);
// The program of this name beside this one, else its name.
std::string beside_this_program(const std::string& name);

}  // namespace ringwright

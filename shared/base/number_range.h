// A check for options of the programs that parse their command line with CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ringwright {

// A number from `first` to `last`. CLI::Range lets NaN through, which is on neither side of anything.
inline CLI::Validator number_between(double first, double last) {
  const std::string range = CLI::detail::to_string(first) + " to " + CLI::detail::to_string(last);
  return CLI::Validator(
      [first, last, range](std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value >= first && value <= last;
        return good ? std::string() : "'" + text + "' is not a number from " + range;
      },
      range);
}

}  // namespace ringwright

// What a verb says to the parser of the command line: commands, options and the checks of their values. It hides CLI11, whose headers alone take
// five seconds of a file; command.cpp, verb.cpp and main.cpp include them, the verbs do not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace ringwright::cli {

// For an option's check(): says what is wrong with a value.
class Check {
 public:
  explicit Check(CLI::Validator validator);
  const CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
};

// A whole number in decimal digits, from `first` to `last`. Options of an integer type have it from check_values (verb.h).
Check whole_number(int64_t first, int64_t last = INT64_MAX);
// A number from 0 on. NaN and infinity are none.
Check from_zero_on();
// One of the words; --help lists them.
Check one_of(const std::vector<std::string>& words);
// A whole number from `first` to `last`; --help shows the range.
Check in_range(int first, int last);
Check existing_folder();

// One option or flag of a command, which owns it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required();
  Option type_name(const std::string& name);  // in --help, in place of the value's type
  Option show_default();                      // in --help: the value that the variable has now
  Option check(const Check& check);
  Option expected(int count_min, int count_max);  // values
  Option needs(Option other);
  Option excludes(Option other);

 private:
  CLI::Option* option_;
};

// A verb, or a sub-verb of one.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}
  // names: "run" (a positional), "--limit" or "-n,--limit". T: text, a vector of texts, an integer, a double, or an optional one of
  // these; command.cpp lists them. The variable must live until the action is called.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  void footer(const std::string& text);  // below the options in --help
  CLI::App& app() { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace ringwright::cli

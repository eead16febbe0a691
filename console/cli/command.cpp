#include "console/cli/command.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <optional>

namespace ringwright::cli {

Check::Check(CLI::Validator validator) : validator_(std::make_shared<const CLI::Validator>(std::move(validator))) {}

Check whole_number(int64_t first, int64_t last) {
  return Check(CLI::Validator(
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
      ""));
}

Check from_zero_on() {
  return Check(CLI::Validator(
      [](std::string& text) {
        double value = -1;
        const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
        return good ? std::string() : "'" + text + "' is not a number from 0 on";
      },
      "NONNEGATIVE"));
}

Check one_of(const std::vector<std::string>& words) { return Check(CLI::IsMember(words)); }
Check in_range(int first, int last) { return Check(CLI::Range(first, last)); }
Check existing_folder() { return Check(CLI::ExistingDirectory); }

Option Option::required() { return Option(option_->required()); }
Option Option::type_name(const std::string& name) { return Option(option_->type_name(name)); }
Option Option::show_default() { return Option(option_->capture_default_str()); }
Option Option::check(const Check& check) { return Option(option_->check(check.validator())); }
Option Option::expected(int count_min, int count_max) { return Option(option_->expected(count_min, count_max)); }
Option Option::needs(Option other) { return Option(option_->needs(other.option_)); }
Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, int64_t&, const std::string&);
template Option Command::add_option(const std::string&, uint16_t&, const std::string&);
template Option Command::add_option(const std::string&, size_t&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<int64_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::string>&, const std::string&);

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) { return Option(app_->add_flag(names, value, help)); }
void Command::footer(const std::string& text) { app_->footer(text); }

}  // namespace ringwright::cli

// Versions and version specifiers of Python packages (PEP 440).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::doctor {

class Version {
 public:
  // Throws Error RW-DOCTOR-010: no version by PEP 440.
  explicit Version(std::string_view text);

  // Epoch, release, pre, post, dev. The local part ("+cu130") is left out: a pin without one accepts any.
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }
  bool is_before_release() const { return pre_kind_ != kNoPre || dev_ >= 0; }  // a pre-release or a development release
  // The same numbers without pre, post and dev.
  Version release() const;
  // Whether the release begins with these numbers; zeros are added where it is shorter.
  bool begins_with(const std::vector<int64_t>& numbers) const;
  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  static constexpr int kNoPre = 3;  // a, b, rc are 0, 1, 2
  int64_t epoch_ = 0;
  std::vector<int64_t> numbers_;
  int pre_kind_ = kNoPre;
  int64_t pre_ = 0, post_ = -1, dev_ = -1;
};

// Whether the version is one of those that ">=5.5.0,<5.9.0" names. Operators: == != >= <= > < ~=, and a trailing .* with == and !=. An empty
// specifier names all. Throws Error RW-DOCTOR-010.
bool satisfies(const Version& version, std::string_view specifiers);
// The first of the comma-separated specifiers that the version breaks; "" when it breaks none.
std::string first_broken(const Version& version, std::string_view specifiers);

}  // namespace ringwright::doctor

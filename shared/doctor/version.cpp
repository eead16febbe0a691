#include "shared/doctor/version.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <tuple>

#include "shared/base/error.h"

namespace ringwright::doctor {
namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min(), kLast = std::numeric_limits<int64_t>::max();
constexpr size_t kTextBytesMax = 128;  // of a version; longer ones are refused before a pattern looks at them

Error no_version(std::string_view text) {
  return Error({"RW-DOCTOR-010", "this is no version of a Python package", std::string(text.substr(0, kTextBytesMax)),
                "a version by PEP 440, such as 5.12.1", "reinstall the package: its metadata is damaged", ExitCode::run_failed});
}

int64_t number_of(std::string_view digits, std::string_view all) {
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || end != digits.data() + digits.size()) throw no_version(all);
  return number;
}

std::vector<int64_t> numbers_of(const std::string& release, std::string_view all) {
  std::vector<int64_t> numbers;
  for (size_t begin = 0; begin <= release.size();) {
    const size_t end = std::min(release.find('.', begin), release.size());
    numbers.push_back(number_of(std::string_view(release).substr(begin, end - begin), all));
    begin = end + 1;
  }
  return numbers;
}

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

std::strong_ordering compare_numbers(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const int64_t x = i < a.size() ? a[i] : 0, y = i < b.size() ? b[i] : 0;
    if (x != y) return x <=> y;
  }
  return std::strong_ordering::equal;
}

using Test = bool (*)(const Version& version, const std::string& wanted);

bool equals(const Version& version, const std::string& wanted) {
  if (wanted.ends_with(".*")) return version.begins_with(Version(wanted.substr(0, wanted.size() - 2)).numbers());
  return version == Version(wanted);
}

// At least it, and the same numbers but the last.
bool compatible(const Version& version, const std::string& wanted) {
  const Version least(wanted);
  std::vector<int64_t> head = least.numbers();
  if (head.size() < 2) throw no_version(wanted);
  head.pop_back();
  return version >= least && version.begins_with(head);
}

// A pre-release of the bound is not below it, unless the bound is one itself.
bool below(const Version& version, const std::string& wanted) {
  const Version bound(wanted);
  return version < bound && (bound.is_before_release() || !version.is_before_release() || version.release() != bound.release());
}

bool above(const Version& version, const std::string& wanted) {
  const Version bound(wanted);
  return version > bound && version.release() != bound.release();
}

struct Operator {
  std::string_view sign;
  Test test;
};

// Longer signs first.
constexpr Operator kOperators[] = {
    {"==", equals},
    {"!=", [](const Version& version, const std::string& wanted) { return !equals(version, wanted); }},
    {">=", [](const Version& version, const std::string& wanted) { return version >= Version(wanted); }},
    {"<=", [](const Version& version, const std::string& wanted) { return version <= Version(wanted); }},
    {"~=", compatible},
    {"<", below},
    {">", above},
};

bool satisfies_one(const Version& version, const std::string& specifier) {
  for (const Operator& each : kOperators)
    if (specifier.starts_with(each.sign)) return each.test(version, trimmed(std::string_view(specifier).substr(each.sign.size())));
  throw no_version(specifier);
}

}  // namespace

Version::Version(std::string_view text) {
  static const re2::RE2 kPattern(
      R"((?i)v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d*))?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?)");
  const std::string given = trimmed(text);
  std::array<re2::StringPiece, 10> match;  // the whole, and the pattern's groups
  if (given.size() > kTextBytesMax || !kPattern.Match(given, 0, given.size(), re2::RE2::ANCHOR_BOTH, match.data(), match.size()))
    throw no_version(text);
  const auto part = [&](size_t group) { return std::string(match[group].begin(), match[group].end()); };
  const auto number = [&](size_t group) { return match[group].empty() ? int64_t{0} : number_of(part(group), given); };
  epoch_ = number(1);
  numbers_ = numbers_of(part(2), given);
  if (!match[3].empty()) {
    const char kind = part(3).front() | 0x20;
    pre_kind_ = kind == 'a' ? 0 : kind == 'b' ? 1 : 2;
    pre_ = number(4);
  }
  if (!match[5].empty()) post_ = number(5);
  if (!match[6].empty()) post_ = number(7);
  if (!match[8].empty()) dev_ = number(9);
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (epoch_ != other.epoch_) return epoch_ <=> other.epoch_;
  if (const auto order = compare_numbers(numbers_, other.numbers_); order != 0) return order;
  // 1.0.dev1 < 1.0a1.dev1 < 1.0a1 < 1.0rc1 < 1.0 < 1.0.post1
  const auto rank = [](const Version& version) {
    const bool only_dev = version.pre_kind_ == kNoPre && version.post_ < 0 && version.dev_ >= 0;
    return std::tuple(only_dev ? -1 : version.pre_kind_, version.pre_, version.post_ < 0 ? kFirst : version.post_,
                      version.dev_ < 0 ? kLast : version.dev_);
  };
  return rank(*this) <=> rank(other);
}

Version Version::release() const {
  Version plain = *this;
  plain.pre_kind_ = kNoPre;
  plain.pre_ = 0, plain.post_ = -1, plain.dev_ = -1;
  return plain;
}

bool Version::begins_with(const std::vector<int64_t>& numbers) const {
  for (size_t i = 0; i < numbers.size(); ++i)
    if ((i < numbers_.size() ? numbers_[i] : 0) != numbers[i]) return false;
  return true;
}

std::string first_broken(const Version& version, std::string_view specifiers) {
  for (size_t begin = 0; begin < specifiers.size();) {
    const size_t end = std::min(specifiers.find(',', begin), specifiers.size());
    const std::string one = trimmed(specifiers.substr(begin, end - begin));
    if (!one.empty() && !satisfies_one(version, one)) return one;
    begin = end + 1;
  }
  return "";
}

bool satisfies(const Version& version, std::string_view specifiers) { return first_broken(version, specifiers).empty(); }

}  // namespace ringwright::doctor

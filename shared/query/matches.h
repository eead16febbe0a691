// The function behind `~`.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace ringwright::query {

inline constexpr const char* kMatchFunction = "rw_matches";

// A regular expression (RE2's: no look-around, time linear in the text) that is found anywhere in a text, whatever the case of the letters.
class Pattern {
 public:
  // With an `error()` when it is none.
  explicit Pattern(std::string_view pattern);
  ~Pattern();
  std::string error() const;
  bool matches(std::string_view text) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringwright::query

// Reading a resolved recipe by dotted key, with one clear error for a value of the wrong kind.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shared/recipe/recipe.h"

namespace ringwright::recipe {

class Typed {
 public:
  // `place` says where a key's value was written; without it the key stands for itself.
  Typed(const nlohmann::json& resolved, std::function<std::string(const std::string& key)> place = {});

  // nullptr when absent or null.
  const nlohmann::json* find(const std::string& key) const;
  bool has(const std::string& key) const { return find(key) != nullptr; }
  // The value, or `fallback` when absent or null. Throws Error RW-RECIPE-020 (missing, where there is no fallback), RW-RECIPE-021 (kind),
  // RW-RECIPE-022 (range).
  int64_t integer(const std::string& key, int64_t fallback, int64_t smallest, int64_t largest = INT64_MAX) const;
  double number(const std::string& key, double fallback, double smallest, double largest = 1e300) const;
  bool boolean(const std::string& key, bool fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  std::string required_text(const std::string& key) const;
  int64_t required_integer(const std::string& key, int64_t smallest, int64_t largest = INT64_MAX) const;
  // The fallback or one of the words, which an error lists; those of `not_offered` are taken too, for others to judge.
  std::string choice(const std::string& key, const std::string& fallback, const std::vector<std::string>& words,
                     const std::vector<std::string>& not_offered = {}) const;

  // Lenient: whether the value is true; the value, or the fallback where it is absent or of another kind, which is somebody else's to refuse.
  bool is_true(const std::string& key) const;
  double number_or(const std::string& key, double fallback) const;
  std::string text_or(const std::string& key, const std::string& fallback) const;

  [[noreturn]] void missing(const std::string& key, const std::string& expected) const;
  [[noreturn]] void wrong_kind(const std::string& key, const std::string& expected) const;
  [[noreturn]] void out_of_range(const std::string& key, const std::string& expected) const;
  // The key with its place in a file, where that is known.
  std::string where(const std::string& key) const;

 private:
  const nlohmann::json& resolved_;
  std::function<std::string(const std::string&)> place_;
};

// "policy.max_grad_norm (recipe.yaml:3:5)".
std::string place_of(const Recipe& recipe, const std::string& key);

}  // namespace ringwright::recipe

// The keys that the form offers, and how each is asked for.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "console/gui/recipe/checked_recipe.h"

namespace ringwright::gui {

enum class FieldKind { text, number, words };

struct FormField {
  std::string_view section;  // heading
  std::string_view key;      // dotted; {algorithm} stands for the recipe's section
  std::string_view label;
  FieldKind kind;
};
std::span<const FormField> form_fields();

struct FieldValue {
  std::string key;                 // of this recipe
  std::string value;               // resolved; "" when it is not set
  std::string origin;              // "common.yaml:41" of an inherited value, "not set", "" when this text sets it
  std::vector<std::string> words;  // of FieldKind::words
};
FieldValue field_value(const FormField& field, const CheckedRecipe& checked);

}  // namespace ringwright::gui

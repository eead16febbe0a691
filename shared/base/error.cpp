#include "shared/base/error.h"

#include "shared/base/text.h"

namespace ringwright {
namespace {

constexpr size_t kTextBytesMax = 400;    // a sentence of our own with a quoted text
constexpr size_t kPlaceBytesMax = 4500;  // a path, with what stands behind it

}  // namespace

ErrorParts shortened(ErrorParts parts) {
  for (std::string* text : {&parts.what, &parts.expected, &parts.action}) *text = text::excerpt(*text, kTextBytesMax);
  parts.where = text::excerpt(parts.where, kPlaceBytesMax);
  return parts;
}

Error::Error(ErrorParts parts) : std::runtime_error(text::excerpt(parts.what, kTextBytesMax)), parts_(shortened(std::move(parts))) {}

std::string describe(const ErrorParts& parts) {
  std::string text = "error";
  if (!parts.code.empty()) text += " " + parts.code;
  text += ": " + parts.what;
  if (!parts.where.empty()) text += "\n  at: " + parts.where;
  if (!parts.expected.empty()) text += "\n  expected: " + parts.expected;
  if (!parts.action.empty()) text += "\n  to fix: " + parts.action;
  return text;
}

}  // namespace ringwright

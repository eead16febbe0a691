// An edit of any text: the first line is a.b=c, or ~a.b to remove, the rest a recipe. It is made, or refused with an Error; what was made says so
// when it is asked again, and has the value.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "shared/base/error.h"
#include "shared/base/line_diff.h"
#include "shared/recipe/reader.h"
#include "shared/recipe/text_edit.h"
#include "shared/recipe/tree_path.h"
#include "shared/recipe/yaml_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line_end = std::min(input.find('\n'), input.size());
  const std::string asked(input.substr(0, line_end)), text(input.substr(std::min(line_end + 1, input.size())));
  try {
    const recipe::TextEdit edit = asked.starts_with('~') ? recipe::make_unset(asked.substr(1)) : recipe::parse_set(asked);
    const std::string after = recipe::edit_text(text, "fuzz.yaml", edit);
    text::unified_diff(text, after, "before", "after");
    if (edit.action == recipe::TextEdit::Action::unset) return 0;
    const recipe::Node root = recipe::parse_yaml(after, "fuzz.yaml");
    const recipe::Node* value = recipe::find_path(root, edit.path);
    if (!value || !recipe::identical(*value, edit.value)) std::abort();
    if (recipe::edit_text(after, "fuzz.yaml", edit) != after) std::abort();
  } catch (const Error&) {
  }
  return 0;
}

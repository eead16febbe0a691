// Any text as a query: either it compiles to a statement whose parameters are all numbered, or one Error with a column.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "shared/base/error.h"
#include "shared/query/query.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ringwright::query;
  Context context;
  context.now_unix_ns = 1'793'534'400'000'000'000;
  context.vocabulary.metric_names = [] { return std::vector<std::string>{"train/loss", "a.b"}; };
  context.vocabulary.setting_names = [] { return std::vector<std::string>{"mesh.cp", "recipe.policy.model_name"}; };
  try {
    const Compiled compiled = compile({reinterpret_cast<const char*>(data), size}, context);
    for (size_t i = 0; i < compiled.parameters.size(); ++i)
      if (compiled.sql.find("?" + std::to_string(i + 1)) == std::string::npos) std::abort();
    if (compiled.sql.find('"') != std::string::npos) std::abort();  // no text of the query in the statement
  } catch (const ringwright::Error& error) {
    if (!error.parts().where.starts_with("column ")) std::abort();
  }
  return 0;
}

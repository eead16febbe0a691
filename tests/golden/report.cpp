#include "tests/golden/report.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "shared/base/error.h"

namespace ringwright::golden {

std::filesystem::path folder(const std::string& name) {
  const char* root = std::getenv("RINGWRIGHT_GOLDENS");
  std::filesystem::path path =
      root != nullptr && *root != '\0' ? std::filesystem::path(root) : std::filesystem::path(RINGWRIGHT_SOURCE_DIR) / "tests/goldens";
  path /= name;
  if (!std::filesystem::is_directory(path)) {
    fmt::print(stderr, "no folder {}: set RINGWRIGHT_GOLDENS to a folder that has {}/\n", path.string(), name);
    std::exit(1);
  }
  return path;
}

nlohmann::json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error(fmt::format("cannot read {}", file.string()));
  return nlohmann::json::parse(stream);
}

void expect_equal(const std::string& what, const nlohmann::json& got, const nlohmann::json& expected) {
  if (got == expected) return;
  const auto text = [](const nlohmann::json& json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 400); };
  throw Mismatch(fmt::format("{}: got {}, expected {}", what, text(got), text(expected)));
}

void Report::run(const std::string& kind, const std::string& id, const std::function<void()>& check) {
  try {
    check();
    ++counts_[kind].passed;
  } catch (const Error& error) {
    fail(kind, id, fmt::format("refused with {}: {}", error.parts().code, error.what()));
  } catch (const std::exception& error) {
    fail(kind, id, error.what());
  }
}

void Report::fail(const std::string& kind, const std::string& id, const std::string& why) {
  ++counts_[kind].failed;
  fmt::print("FAILED {} ({}): {}\n", id, kind, why);
}

int Report::finish() const {
  Count total;
  for (const auto& [kind, count] : counts_) {
    fmt::print("{}: {} passed, {} failed\n", kind, count.passed, count.failed);
    total.passed += count.passed;
    total.failed += count.failed;
  }
  fmt::print("{} passed, {} failed\n", total.passed, total.failed);
  return total.failed == 0 && total.passed > 0 ? 0 : 1;
}

}  // namespace ringwright::golden

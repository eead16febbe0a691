// Any bytes as an archive of a run, read to its end; or, behind "rows:NAME\n", as the lines of one of its files ("rows:run" for the run itself),
// without the compression and the tar around them. One Error, or rows that are written and read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "memory_file.h"
#include "shared/base/error.h"
#include "shared/base/json_depth.h"
#include "shared/exchange/record_json.h"
#include "shared/exchange/row_json.h"
#include "shared/exchange/run_archive.h"

namespace {

using namespace ringwright;
using namespace ringwright::exchange;

constexpr std::string_view kRows = "rows:";
constexpr int kNestingMax = 64;  // the archive's reader lets no more in

void read_line(std::string_view name, const nlohmann::json& line) {
  if (name == "run") {
    run_from_json(line);
    return;
  }
  const Row row = row_from_json(name, line);
  if (file_of(row) != name) std::abort();
  const std::string text = dump_line(row_to_json(row));
  if (dump_line(row_to_json(row_from_json(name, nlohmann::json::parse(text)))) != text) std::abort();
}

void read_rows(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('\n'));
  text.remove_prefix(name.size());
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size());
    if (text::json_depth(line) > kNestingMax) continue;
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) continue;
    try {
      read_line(name, json);
    } catch (const Error&) {
    } catch (const nlohmann::json::exception&) {
    } catch (const std::invalid_argument&) {
    } catch (const std::out_of_range&) {
    }
  }
}

void read_whole(const std::filesystem::path& file) {
  const auto run = read_archive(file, [](Row&& row) {
    if (file_of(row).empty()) std::abort();
  });
  if (run.id.size() != 10) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with(kRows)) return read_rows(bytes.substr(kRows.size())), 0;
  const ringwright::MemoryFile file(data, size);
  try {
    read_whole(file.path());
  } catch (const Error&) {
  }
  return 0;
}

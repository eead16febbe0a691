#include "console/cli/fingerprint_source.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "shared/base/error.h"
#include "shared/base/files.h"
#include "shared/base/printable.h"
#include "shared/fingerprint/machine.h"

namespace ringwright::cli {
namespace {

constexpr uintmax_t kFileBytesMax = uintmax_t{256} << 20;

// In the document itself, below the key `fingerprint`, or below that of its `run`.
nlohmann::json fingerprint_in(const nlohmann::json& document) {
  if (!document.is_object()) return nullptr;
  for (const char* key : {"fingerprint", "run"})
    if (const auto found = document.find(key); found != document.end() && found->is_object())
      return std::string_view(key) == "fingerprint" ? *found : fingerprint_in(*found);
  return document.contains("libraries") || document.contains("workers") ? document : nlohmann::json(nullptr);
}

nlohmann::json read_file(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    return Error({"RW-DOCTOR-040", "the file holds no fingerprint: " + why, file.string(),
                  "what `ringwright doctor --json` or `runs show --json` printed", "name a run or such a file"});
  };
  if (const std::string kind = files::kind_if_not_regular(file); !kind.empty()) throw refuse("it is " + kind);
  std::string bytes;
  try {
    bytes = files::read_all(file, kFileBytesMax);
  } catch (const std::system_error& error) {
    throw refuse(error.code() == std::errc::file_too_large ? "it is larger than 256 MiB" : "it cannot be read (" + error.code().message() + ")");
  }
  const std::string first = bytes.substr(0, bytes.find('\n'));  // of `runs export --format jsonl`, the run itself
  nlohmann::json document = nlohmann::json::parse(first, nullptr, false);
  if (document.is_discarded()) document = nlohmann::json::parse(bytes, nullptr, false);
  if (document.is_discarded()) throw refuse("it is no JSON");
  nlohmann::json content = fingerprint_in(document);
  if (!content.is_object()) throw refuse("there is none in it");
  return content;
}

}  // namespace

NamedFingerprint find_fingerprint(const std::string& name, const StoreOption& store, const std::filesystem::path& torch_folder) {
  std::error_code ignored;
  if (name == "this") return {"this machine", fingerprint::node_fingerprint({.torch_folder = torch_folder})};
  if (std::filesystem::exists(name, ignored)) return {"file " + text::printable(name), read_file(name)};
  const history::RunRecord run = store.open().run(name);
  if (!run.fingerprint.is_object() || run.fingerprint.empty())
    throw Error({"RW-DOCTOR-041", "the run has no fingerprint", run.id, "a run that was started", "name another run"});
  return {"run " + run.id + " " + text::printable(run.name), run.fingerprint};
}

}  // namespace ringwright::cli

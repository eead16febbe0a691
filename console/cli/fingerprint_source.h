// A fingerprint by what the user names: a run, a file, or this machine.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "console/cli/store_option.h"

namespace ringwright::cli {

struct NamedFingerprint {
  std::string name;  // "run r_0badcafe first", "file a.json", "this machine"
  nlohmann::json content;
};

// `name`: "this"; else a file with what `doctor --json`, `runs show --json` or `runs export` printed; else a run. Throws Error RW-DOCTOR-040 (exit
// code 2) for a file without a fingerprint, RW-DOCTOR-041 for a run without one, and the store's.
NamedFingerprint find_fingerprint(const std::string& name, const StoreOption& store, const std::filesystem::path& torch_folder);

}  // namespace ringwright::cli

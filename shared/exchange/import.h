// Bringing runs into a history, whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "shared/exchange/rows.h"

namespace ringwright::exchange {

struct ImportReport {
  std::string run, name;
  bool already_there = false;  // the same run is in this history: nothing was changed
  uint64_t points = 0;
  std::vector<std::string> notes;
};

// An archive of a run (run_archive.h), an export as JSON or JSON lines (text_import.h), or a file or folder of TensorBoard event files. All that is
// to be imported is looked at in full before the first row is written, and a run's rows are written in one transaction. `name`: for the run, in place
// of its own; RW-IMPORT-001 (exit code 2) where there are several. Throws the errors of read_archive, read_text_export, read_tensorboard and
// history::Editor.
std::vector<ImportReport> import_runs(const std::filesystem::path& store, const std::filesystem::path& place, const std::string& name = "");

}  // namespace ringwright::exchange

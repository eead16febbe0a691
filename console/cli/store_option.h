// `--store FILE` of the verbs that read the history straight from its file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "console/cli/command.h"
#include "shared/history/store.h"

namespace ringwright::cli {

struct StoreOption {
  std::string file;  // empty: the user's own history

  void add_to(Command& command) {
    command.add_option("--store", file, "the history file (default: $XDG_STATE_HOME/ringwright/history.db)").type_name("FILE");
  }
  std::filesystem::path path() const;
  // Throws Error RW-STORE-001, ... (exit code 6).
  history::Reader open() const { return history::Reader(path()); }
  // A run that the history has as going on, while no daemon has the file: lost since its last sign of life, as the next daemon will record it.
  history::RunRecord as_it_is(const history::Reader& reader, history::RunRecord run) const;
  // True when no file was named and the user's own is not there yet: there are no runs, which is no error.
  bool is_unused() const;
};

}  // namespace ringwright::cli

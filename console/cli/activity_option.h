// The options of verbs that show one step of a run, all of it or of one activity.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "console/cli/command.h"
#include "shared/history/activity.h"

namespace ringwright::cli {

struct ActivityOption {
  std::string of;
  std::optional<int64_t> step;

  void add_to(Command& command);
  // Null: of whatever it is.
  const history::Activity* activity() const { return history::activity_named(of); }
  // " of teacher"; "" for all.
  std::string words() const { return of.empty() ? "" : " of " + of; }
};

}  // namespace ringwright::cli

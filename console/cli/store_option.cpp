#include "console/cli/store_option.h"

#include "shared/base/paths.h"
#include "shared/history/ownership.h"

namespace ringwright::cli {

std::filesystem::path StoreOption::path() const { return file.empty() ? paths::default_store() : std::filesystem::path(file); }

history::RunRecord StoreOption::as_it_is(const history::Reader& reader, history::RunRecord run) const {
  if (history::is_final(run.state) || !history::is_abandoned(path())) return run;
  // The daemon may have ended the run and itself since the run was read.
  run = reader.run(run.id);
  if (history::is_final(run.state)) return run;
  run.state = history::RunState::lost;
  run.reason = "its daemon has gone; this is its last sign of life";
  run.ended_unix_ns = reader.last_sign_of_life_unix_ns(run.id);
  return run;
}

bool StoreOption::is_unused() const {
  std::error_code ignored;
  return file.empty() && !std::filesystem::exists(path(), ignored);
}

}  // namespace ringwright::cli

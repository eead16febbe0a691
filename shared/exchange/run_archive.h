// One run with all that the history has of it, as one file: run.json first, then files of rows (metrics-00001.jsonl, logs-00001.jsonl, ...), then
// manifest.json with the rows and the XXH3 of each of them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "shared/exchange/rows.h"
#include "shared/history/store.h"

namespace ringwright::exchange {

inline constexpr int kArchiveVersion = 1;

// The archive's bytes, as they come, to `write`. The same run gives the same bytes.
void export_archive(const history::Reader& reader, const history::RunRecord& run, const std::function<void(const std::string&)>& write);

// Hands every row to `take` and gives back the run. Throws Error (exit code 2): those of ArchiveReader, RW-ARCHIVE-003 also for rows that are none,
// or that are not as the manifest has them, RW-ARCHIVE-006 (exit code 5) for an archive of a newer version. Until it returns, nothing that came is to
// be trusted.
history::RunRecord read_archive(const std::filesystem::path& file, const TakeRow& take);

}  // namespace ringwright::exchange

// Runs as TensorBoard's event files: out of the history, and into it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "shared/exchange/rows.h"
#include "shared/history/store.h"

namespace ringwright::exchange {

// Writes one event file into `folder`, and one into folder/rankN for each rank that sent metrics of its own beside rank 0. Values are kept in 32
// bits, as TensorBoard's scalars are. Returns the files. Throws Error RW-CLI-011 when one cannot be written; then none is left.
std::vector<std::filesystem::path> export_tensorboard(const history::Reader& reader, const history::RunRecord& run,
                                                      const std::filesystem::path& folder);

// One run as it lies in event files: all files of one folder, whose later ones go on where the earlier ones were cut off.
struct TensorboardRun {
  history::RunRecord run;
  std::vector<SeriesPoints> series;  // a segment for each file
  std::vector<history::SegmentRecord> segments;
  std::string xxh3;  // of all that was read
  std::vector<std::string> notes;
};

// The runs below a folder, or that of a single file; a folder without scalars is none, but what it says of hyperparameters belongs to the folder
// above. Throws Error (exit code 2): RW-TB-001..003, RW-TB-004 no event file, RW-TB-005 a step below 0, RW-TB-006 more than fits into memory.
std::vector<TensorboardRun> read_tensorboard(const std::filesystem::path& place);

}  // namespace ringwright::exchange

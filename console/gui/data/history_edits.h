// Edits of the history by hand, with what the console is to be told of them.
#pragma once

#include <filesystem>

#include "console/gui/data/orders.h"
#include "console/gui/data/source.h"

namespace ringwright::gui {

// Carries the edit out in the file. What became of it goes into the queue: the runs as they are now, a notice that can undo it, or one that says why
// not.
void edit_history(UpdateQueue& queue, const std::filesystem::path& file, const Edit& edit);

}  // namespace ringwright::gui

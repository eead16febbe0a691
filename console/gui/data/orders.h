// What an operator asks to be done: to a run that is going on, or to what is recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringwright::gui {

enum class Order { stop, stop_after_checkpoint, kill, pause, resume, checkpoint };

// A change to the history. `text`: the tag, or the note.
struct Edit {
  enum class What { add_tag, remove_tag, add_note, remove_note, archive, restore, remove } what = What::add_tag;
  std::vector<std::string> runs;
  std::string text = {};
  std::vector<int64_t> notes = {};  // remove_note: the key in each of the runs
};

}  // namespace ringwright::gui

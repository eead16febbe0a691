#include "console/gui/views/view.h"

#include <algorithm>

namespace ringwright::gui {
namespace {
std::vector<ViewEntry>& entries() {
  static std::vector<ViewEntry> list;
  return list;
}
}  // namespace

const std::vector<ViewEntry>& view_entries() { return entries(); }

RegisterView::RegisterView(ViewEntry entry) {
  // The order in which files are linked is nobody's choice; by id it is the same everywhere.
  const auto place = std::find_if(entries().begin(), entries().end(), [&](const ViewEntry& other) { return other.id > entry.id; });
  entries().insert(place, std::move(entry));
}

}  // namespace ringwright::gui

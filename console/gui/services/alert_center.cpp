#include "console/gui/services/alert_center.h"

#include <algorithm>

#include "console/gui/services/context.h"

namespace ringwright::gui {
namespace {

constexpr const char* kKept = "acknowledged_alerts";

const nlohmann::json& acknowledged_in(const Context& context) {
  static const nlohmann::json nothing = nlohmann::json::object();
  const auto found = context.kept.find(kKept);
  return found != context.kept.end() && found->is_object() ? *found : nothing;
}

}  // namespace

void AlertCenter::refresh(const Context& context) {
  if (!stale_ && version_ == context.state.runs_version()) return;
  version_ = context.state.runs_version();
  stale_ = false;
  rows_ = alert_rows(context.state, acknowledged_in(context));
  open_ = static_cast<int>(std::count_if(rows_.begin(), rows_.end(), [](const AlertRow& row) { return !row.acknowledged; }));
}

const AlertRow* AlertCenter::find_current() const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const AlertRow& row) { return row.key() == current_; });
  return found == rows_.end() ? nullptr : &*found;
}

void AlertCenter::go_to(Context& context, const AlertRow& row) {
  current_ = row.key();
  context.select_moment(row.run->record.id, row.step(), row.alert.last_unix_ns);
  context.selection.rank = row.rank();
  context.cli_line = "ringwright logs " + row.run->record.id + (row.rank() >= 0 ? " --rank " + std::to_string(row.rank()) : "");
}

void AlertCenter::jump(Context& context, int by) {
  if (open_ == 0) {
    context.notify(Notice::Level::info, "Nothing needs you: no alert is open");
    return;
  }
  const AlertRow* current = find_current();
  const int at = current == nullptr ? (by > 0 ? -1 : 0) : static_cast<int>(current - rows_.data());
  const int next = ((at + by) % open_ + open_) % open_;  // the open ones come first
  go_to(context, rows_[static_cast<size_t>(at >= open_ ? 0 : next)]);
}

void AlertCenter::toggle_acknowledged(Context& context) {
  const AlertRow* row = find_current();
  if (row == nullptr || row->severity == Severity::news) return;
  nlohmann::json& acknowledged = context.kept[kKept];
  if (!acknowledged.is_object()) acknowledged = nlohmann::json::object();
  if (row->acknowledged) {
    acknowledged.erase(row->key());
  } else {
    acknowledged[row->key()] = row->alert.last_unix_ns;
  }
  context.keep_wanted = true;
  stale_ = true;
}

}  // namespace ringwright::gui

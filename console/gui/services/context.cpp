#include "console/gui/services/context.h"

#include <imgui.h>

#include <algorithm>

#include "shared/wire/message.h"

namespace ringwright::gui {
namespace {
constexpr double kToastSeconds = 6, kUndoSeconds = 10;
constexpr size_t kPlacesMax = 200;
constexpr size_t kToastsMax = 3;
}  // namespace

void Context::select(const std::string& run) {
  selection.run = run;
  want_details(run);
}

void Context::want_details(const std::string& run) {
  const auto found = state.find(run);
  if (found && found->details == Loading::absent) {
    state.mark_reading(run);
    source.want_details(run);
  }
}

void Context::select_moment(const std::string& run, std::optional<int64_t> step, int64_t time_unix_ns) {
  select(run);
  selection.step = step;
  selection.time_unix_ns = time_unix_ns;
}

std::vector<std::shared_ptr<Run>> Context::targets() const {
  std::vector<std::shared_ptr<Run>> runs;
  if (!selection.chosen.empty()) {
    for (const auto& run : state.runs())
      if (selection.chosen.contains(run->record.id)) runs.push_back(run);
  }
  if (const auto current = run(); runs.empty() && current) runs.push_back(current);
  return runs;
}

std::vector<std::string> Context::compared_runs() const {
  std::vector<std::string> ids;
  for (const auto& run : state.runs())
    if (selection.shown.contains(run->record.id)) ids.push_back(run->record.id);
  const auto current = std::find(ids.begin(), ids.end(), selection.run);
  if (current != ids.end()) std::rotate(ids.begin(), current, current + 1);
  return ids;
}

void Context::step_back(int by) {
  const auto place = places.go(by);
  if (!place) return;
  static_cast<Place&>(selection) = *place;
  select(place->run);
}

void Context::notify(Notice::Level level, std::string text, std::string action) { notify({level, std::move(text), std::move(action)}); }

void Context::notify(const ErrorParts& error) { notify(notice_of(error)); }

// The same again, or the same said of another run ("r_1: killed", "r_2: killed"), counts up the toast that is there.
void Context::notify(Notice notice) {
  const double until = ImGui::GetTime() + (notice.undo ? kUndoSeconds : kToastSeconds);
  const auto rule = [](const Notice& of) { return of.text.substr(std::min(of.text.find(": "), of.text.size())); };
  for (Toast& toast : toasts) {
    const bool same = toast.notice.text == notice.text;
    const bool alike = notice.text.find(": ") != std::string::npos && rule(toast.notice) == rule(notice) && !notice.undo && !toast.notice.undo;
    if (!same && !alike) continue;
    toast.until_s = until;
    if (!same) toast.notice = std::move(notice), ++toast.count;
    return;
  }
  toasts.push_back({std::move(notice), until});
  while (toasts.size() > kToastsMax) toasts.pop_front();
}

const Toast* Context::undoable() const {
  const auto found = std::find_if(toasts.rbegin(), toasts.rend(), [](const Toast& toast) { return toast.notice.undo.has_value(); });
  return found == toasts.rend() ? nullptr : &*found;
}

void Context::undo() {
  const Toast* toast = undoable();
  if (toast == nullptr) return;
  source.edit(*toast->notice.undo);
  std::erase_if(toasts, [toast](const Toast& other) { return &other == toast; });
}

std::string Context::why_no_orders() const { return read_only ? "the console was started with --read-only" : source.why_no_orders(); }
std::string Context::why_no_edits() const { return read_only ? "the console was started with --read-only" : source.why_no_edits(); }

bool Context::is_silent() const {
  const LinkState link = state.link().state;
  return link == LinkState::stale || link == LinkState::lost;
}

void PlaceHistory::note(const Place& place) {
  if (place.run.empty() || (!places_.empty() && places_[current_] == place)) return;
  if (!places_.empty()) places_.resize(current_ + 1);
  places_.push_back(place);
  if (places_.size() > kPlacesMax) places_.pop_front();
  current_ = places_.size() - 1;
}

std::optional<Place> PlaceHistory::go(int by) {
  const auto wanted = static_cast<int64_t>(current_) + by;
  if (wanted < 0 || wanted >= static_cast<int64_t>(places_.size())) return std::nullopt;
  current_ = static_cast<size_t>(wanted);
  return places_[current_];
}

double Context::age_s(int64_t time_unix_ns) const { return wire::seconds_between(time_unix_ns, source.now_unix_ns()); }

}  // namespace ringwright::gui
